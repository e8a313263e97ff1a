/*
 * err: how everything that the world can refuse (files, devices, memory) reports failure.
 *
 * A function that can fail returns bool and takes an Err last.  The first message wins: later
 * calls of err_set on an Err that is already set keep the first text, so callers may add clean-up
 * failures freely.  The code is the exit code of the process that gives up because of it.
 * Texts are whole sentences without a final full stop, lower case, naming the thing, the limit
 * and what to do.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

enum {
    CODE_OK = 0,
    CODE_FILES = 1,         /* some files failed, the rest are done */
    CODE_USAGE = 2,         /* wrong usage, or an error in a .pipe file */
    CODE_DEVICE = 3,        /* no usable device, or the device was lost */
    CODE_MEMORY = 4,        /* does not fit, even in tiles */
    CODE_OUTPUT = 5,        /* an output cannot be written */
    CODE_AGAIN = 75,        /* as EX_TEMPFAIL: what was in the way may pass, and the same command may succeed later */
    CODE_INTERRUPTED = 130, /* SIGINT; after SIGTERM a process ends with 143 */
};

typedef struct Err {
    int code;       /* CODE_OK while nothing failed */
    bool transient; /* it may pass: a full disk, a lost device */
    char text[1000];
} Err;

/* Records a failure and returns false, so that `return err_set(...)` reads well. */
bool err_set(Err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Puts "prefix: " before the text of a failure already recorded; returns false. */
bool err_prefix(Err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void err_clear(Err *err);
/* What the process ends with: the code, or CODE_AGAIN for what may pass. */
int err_exit_code(const Err *err);

/* Forwards a failure that the callee has already described. */
#define TRY(call)         \
    do {                  \
        if (!(call)) {    \
            return false; \
        }                 \
    } while (0)

#endif
