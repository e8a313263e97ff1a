/* support: bytes as a text and as a file. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static char path[200];

static void remove_file(void)
{
    (void)unlink(path);
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    if (path[0] == '\0') {
        const char *folder = getenv("TMPDIR"), *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(path, sizeof path, "%s/pipec-fuzz-%ld", folder != NULL ? folder : memory, (long)getpid());
        atexit(remove_file);
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        abort();
    }
    return path;
}
