/*
 * signals: one lock-free counter; everything that the handler calls is safe in a signal handler.
 */
#include "signals.h"

#include "../../base/err.h"
#include "../../base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int received;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void stop(int number)
{
    (void)number;
    int saved = errno;
    if (atomic_fetch_add(&received, 1) > 0) {
        file_discard_all();
        _exit(CODE_INTERRUPTED);
    }
    say("\nstopping after what is running; once more to stop at once\n");
    errno = saved;
}

void signals_install(void)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

bool signals_interrupted(void)
{
    return atomic_load(&received) > 0;
}

void signals_reset(void)
{
    atomic_store(&received, 0);
}
