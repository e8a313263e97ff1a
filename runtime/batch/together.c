/* together: see together.h. */
#include "together.h"

#include <stdlib.h>

static void show_nothing(void *context, double part)
{
    (void)context;
    (void)part;
}

/* All have bound; *together where all have parts. */
static bool ask(Owners *owners, bool parts, bool *together, Err *err)
{
    OwnersPiece *pieces = calloc((size_t)owners->n, sizeof *pieces);
    bool ok = (pieces != NULL || err_set(err, CODE_MEMORY, "out of host memory for several devices")) &&
              owners_tell(owners, &parts, sizeof parts, pieces, err);
    *together = ok;
    for (int k = 0; ok && k < owners->n; k++) {
        *together = *together && *(const bool *)pieces[k].bytes;
    }
    if (pieces != NULL) {
        owners_drop(owners, pieces);
    }
    free(pieces);
    return ok;
}

bool together_bind(Exec *exec, const ExecInput *inputs, const double *params, Owners *owners, bool *together, Err *err)
{
    exec_set_owners(exec, owners);
    bool ok = exec_bind(exec, inputs, params, err) && ask(owners, exec_in_parts(exec), together, err);
    if (!ok) {
        owners_fail(owners, err);
    }
    return ok;
}

/* The rows from the files of this owner's own reader, or from volumes. */
static bool run(const Share *share, Reader *reader, Err *err)
{
    Results *results = NULL;
    const StreamSetup setup = {.program = share->program,
                               .dev = share->dev,
                               .exec = share->exec,
                               .reader = reader,
                               .frame = share->frame,
                               .volumes = share->volumes,
                               .bytes = share->bytes,
                               .keep = share->keep,
                               .progress = show_nothing};
    bool ok = results_begin(share->exec, share->program, NULL, NULL, &results, err) && stream_run(&setup, results, err);
    results_free(results);
    return ok;
}

bool together_share(const Share *share, Err *err)
{
    Reader *reader = NULL;
    bool together, reads = share->program->n_inputs > 0;
    TRY(together_bind(share->exec, share->inputs, share->options->params, share->owners, &together, err));
    if (!together) {
        return true;
    }
    bool ok = !reads || reader_open(share->program, share->item, share->options, false, share->cache, &reader, err);
    ok = ok && run(share, reader, err);
    reader_close(reader);
    if (!ok) {
        owners_fail(share->owners, err);
    }
    return ok;
}
