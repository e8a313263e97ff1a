/* fuzz_journal: any bytes as the journal of a batch that is gone on with. */
#include "fuzz.h"

#include "runtime/batch/journal.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Journal *journal = NULL;
    Err err = {0};
    char *text = fuzz_text(data, size);
    const char *path = fuzz_file(data, size), *values;
    char name[200], *inputs[] = {name, text};
    JournalImage image = {inputs, 1, inputs, 2};
    snprintf(name, sizeof name, "%s", path);
    if (journal_open(path, "0123456789abcdef", true, &journal, &err)) {
        (void)journal_find(journal, &image, &values);
        char *begun = journal_begin(journal, &image);
        (void)journal_add(journal, begun, &path, 1, "1,2", &err);
        (void)journal_find(journal, &image, &values);
        free(begun);
        journal_close(journal);
    }
    free(text);
    return 0;
}
