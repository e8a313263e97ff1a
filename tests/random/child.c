/* child: fork, alarm, wait. */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITING = 20 }; /* what waits for others may take so many times as long */

void *child_shared(size_t bytes)
{
    FILE *file = tmpfile();
    if (file == NULL || ftruncate(fileno(file), (off_t)bytes) != 0) {
        return NULL;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    fclose(file);
    return at != MAP_FAILED ? at : NULL;
}

void child_limit(unsigned seconds)
{
    struct rlimit limit;
    struct rusage used;
    if (getrlimit(RLIMIT_CPU, &limit) == 0 && getrusage(RUSAGE_SELF, &used) == 0) {
        limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
        (void)setrlimit(RLIMIT_CPU, &limit); /* the alarm is left where this is refused */
    }
    alarm(WAITING * seconds);
}

/* The last line of a file that is not empty. */
static void last_line(FILE *file, char *out, size_t size)
{
    char line[1000];
    out[0] = '\0';
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0') {
            snprintf(out, size, "%s", line);
        }
    }
}

/* How a child ended that crashed without a word. */
static void how_it_ended(int status, char *said, size_t size)
{
    if (said[0] == '\0') {
        snprintf(said, size, "%s %d", WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

static ChildEnd end_of(pid_t pid, int *status)
{
    if (waitpid(pid, status, 0) != pid) {
        return CHILD_NONE;
    }
    if (WIFSIGNALED(*status) && (WTERMSIG(*status) == SIGALRM || WTERMSIG(*status) == SIGXCPU)) {
        return CHILD_LATE;
    }
    return WIFEXITED(*status) && WEXITSTATUS(*status) == EXIT_SUCCESS ? CHILD_DONE : CHILD_CRASHED;
}

ChildEnd child_run(void (*work)(void *context), void *context, char *said, size_t size)
{
    FILE *errors = tmpfile();
    said[0] = '\0';
    if (errors == NULL) {
        return CHILD_NONE;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(errors), STDERR_FILENO);
        work(context);
        exit(EXIT_SUCCESS);
    }
    int status = 0;
    ChildEnd end = pid > 0 ? end_of(pid, &status) : CHILD_NONE;
    last_line(errors, said, size);
    if (end == CHILD_CRASHED) {
        how_it_ended(status, said, size);
    }
    fclose(errors);
    return end;
}
