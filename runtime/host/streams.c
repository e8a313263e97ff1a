/* streams: see streams.h. */
#include "streams.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

void streams_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way) < 0) {
            return; /* what opens gets the lowest number that is free */
        }
    }
}

/* True when nobody reads any more, as behind `| head`: who has ended knows it. */
static bool is_left(int fd)
{
    struct pollfd pipe = {.fd = fd, .events = POLLOUT};
    return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

bool streams_flush(const char *command)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    if (is_left(STDOUT_FILENO)) {
        return false;
    }
    fprintf(stderr, "%s: cannot write to the standard output\n", command);
    return false;
}
