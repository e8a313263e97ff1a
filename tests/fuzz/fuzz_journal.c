/* fuzz_journal: any bytes as the journal of a batch that is gone on with. */
#include "fuzz.h"

#include "runtime/batch/journal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Journal *journal = NULL;
    Err err = {0};
    const char *path = fuzz_file(data, size), *inputs[] = {path}, *values;
    if (journal_open(path, "0123456789abcdef", true, &journal, &err)) {
        (void)journal_find(journal, inputs, 1, &values);
        char *stamp = journal_stamp(inputs, 1);
        (void)journal_add(journal, stamp, inputs, 1, "1,2", &err);
        free(stamp);
        journal_close(journal);
    }
    return 0;
}
