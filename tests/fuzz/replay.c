/* replay: a target as a plain program, over the files of its corpus. */
#include "fuzz.h"

#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int replay(const char *path)
{
    char *data;
    size_t size;
    Err err = {0};
    if (!file_read(path, &data, &size, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    (void)LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int wrong = argc < 2, files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
            char path[1000];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (entry->d_name[0] != '.') {
                wrong += replay(path);
                files++;
            }
        }
        wrong += folder == NULL;
        if (folder != NULL) {
            closedir(folder);
        }
    }
    printf("%d files\n", files);
    return wrong > 0 || files == 0;
}
