/* fuzz_journal: any bytes as the journal of a batch that is gone on with. */
#include "fuzz.h"

#include "runtime/batch/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Journal *journal = NULL;
    Err err = {0};
    const char *path = fuzz_file(data, size), *inputs[] = {path}, *values;
    if (journal_open(path, "0123456789abcdef", true, &journal, &err)) {
        (void)journal_find(journal, inputs, 1, &values);
        (void)journal_add(journal, inputs, 1, inputs, 1, "1,2", &err);
        journal_close(journal);
    }
    return 0;
}
