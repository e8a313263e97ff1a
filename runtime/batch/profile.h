/*
 * profile: where the time of a run went: a table of steps, and a trace for chrome://tracing or
 * ui.perfetto.dev.  The device must have been opened with `profile`.
 */
#ifndef RUNTIME_PROFILE_H
#define RUNTIME_PROFILE_H

#include "../exec/exec_plan.h"
#include "../host/stopwatch.h"

#include <stdio.h>

typedef struct Profile Profile;

/* `threads`: the trace shows the host's, too.  NULL: out of memory. */
Profile *profile_new(bool threads);
void profile_free(Profile *profile); /* NULL is allowed */
/* For the threads of the run. */
Stopwatch *profile_watch(Profile *profile);
/* `jobs` threads read and decode, as many encode and write, and `lanes` have devices; all of it took `wall_ns`. */
void profile_threads(Profile *profile, int jobs, int lanes, uint64_t wall_ns);
/* Takes what the device has done since the last call, as the work on `image`. */
bool profile_collect(Profile *profile, Device *dev, const ExecPlan *plan, const char *image, Err *err);
/* Bytes read and written in a second by the plainest kernel: the yardstick for all others. */
bool profile_copy_bandwidth(Device *dev, double *bytes_per_second, Err *err);
/* `copy`: from profile_copy_bandwidth, or 0. */
void profile_print(const Profile *profile, double copy, FILE *out);
bool profile_write_trace(const Profile *profile, const char *path, Err *err);

#endif
