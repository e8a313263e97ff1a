/*
 * workflow: a batch as a workflow for a cluster, as somebody would write it: shards with the resources that the plan says,
 * retries that go on, and the merge.  It is printed, to be looked at and changed.
 */
#ifndef RUNTIME_WORKFLOW_H
#define RUNTIME_WORKFLOW_H

#include "../command/options.h"

/* --snakefile: a workflow for Snakemake, 8 and later; the exit code. */
int workflow_snakefile(const Program *program, const Options *options);
/* --sbatch: a job array for Slurm alone. */
int workflow_sbatch(const Program *program, const Options *options);

#endif
