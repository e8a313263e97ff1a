/*
 * reader_process: each process is a group of its own, so that what it starts ends with it and Ctrl-C is for pipec alone.
 * The end of its standard input tells it that it is no longer needed.  What it writes to standard error goes to a file
 * without a name, whose last line says why it failed.
 */
#include "reader_process.h"

#include "../../base/utf8.h"
#include "../host/signals.h"
#include "../host/stopwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MOST = 1 << 16, WORDS_BYTES = 300, TAIL_BYTES = 2048 };

struct ReaderProcess {
    ReaderProcess *next; /* of all that run */
    const char *command;
    int seconds;
    pid_t pid;
    int to, from;
    FILE *said; /* its standard error */
    bool waits, used, ended;
    bool failed; /* it ended, or does not do as the protocol says: nothing more is asked */
    char words[WORDS_BYTES];
    size_t begin, end; /* what was read ahead */
    char buffer[LINE_MOST];
};

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of the list, and while pipes are made that no other child may have */
static ReaderProcess *all;

extern char **environ;

/* ---- starting and ending --------------------------------------------------------------------- */

static void signal_all(int number)
{
    pthread_mutex_lock(&lock);
    for (const ReaderProcess *p = all; p != NULL; p = p->next) {
        kill(-p->pid, number);
    }
    pthread_mutex_unlock(&lock);
}

/* For a process that is interrupted. */
static void kill_all(void)
{
    signal_all(SIGKILL);
}

/* For one that ends: those that wait know it by the end of their input, and others by this. */
static void terminate_all(void)
{
    signal_all(SIGTERM);
}

static void clean_at_end(void)
{
    signals_at_end(kill_all);
    (void)atexit(terminate_all);
}

static bool close_on_exec(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static void close_pipe(const int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
}

static bool make_pipe(int ends[2])
{
    return pipe(ends) == 0 && close_on_exec(ends[0]) && close_on_exec(ends[1]);
}

/* In a group of its own, and with signals as a program expects them. */
static int spawn(ReaderProcess *p, int in, int out)
{
    char *const arguments[] = {"sh", "-c", (char *)p->command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t usual;
    sigemptyset(&usual);
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&how);
    if (error == 0) {
        bool ok = posix_spawnattr_setsigmask(&how, &usual) == 0 && sigaddset(&usual, SIGPIPE) == 0 &&
                  sigaddset(&usual, SIGXFSZ) == 0 && posix_spawnattr_setsigdefault(&how, &usual) == 0 &&
                  posix_spawnattr_setpgroup(&how, 0) == 0 &&
                  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                     POSIX_SPAWN_SETSIGMASK) == 0 &&
                  posix_spawn_file_actions_adddup2(&files, fileno(p->said), STDERR_FILENO) == 0 &&
                  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO) == 0 &&
                  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO) == 0;
        error = ok ? posix_spawn(&p->pid, "/bin/sh", &files, &how, arguments, environ) : ENOMEM;
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* With the lock held; 0, or errno. */
static int start(ReaderProcess *p)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    p->said = tmpfile();
    bool ok = p->said != NULL && close_on_exec(fileno(p->said)) && make_pipe(in) && make_pipe(out) &&
              fcntl(in[1], F_SETFL, O_NONBLOCK) == 0;
    int error = ok ? spawn(p, in[0], out[1]) : errno;
    if (error != 0) {
        close_pipe(in);
        close_pipe(out);
        if (p->said != NULL) {
            fclose(p->said);
        }
        return error;
    }
    close(in[0]);
    close(out[1]);
    p->to = in[1];
    p->from = out[0];
    p->next = all;
    all = p;
    return 0;
}

static ReaderProcess *find_waiting(const char *command)
{
    for (ReaderProcess *p = all; p != NULL; p = p->next) {
        if (p->waits && strcmp(p->command, command) == 0) {
            p->waits = false;
            p->used = true;
            return p;
        }
    }
    return NULL;
}

bool reader_process_take(const char *command, int seconds, ReaderProcess **out, Err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, clean_at_end);
    pthread_mutex_lock(&lock);
    int error = 0;
    *out = find_waiting(command);
    if (*out == NULL) {
        ReaderProcess *p = calloc(1, sizeof *p);
        error = ENOMEM;
        if (p != NULL) {
            p->command = command;
            error = start(p);
        }
        *out = error == 0 ? p : NULL;
        if (error != 0) {
            free(p);
        }
    }
    pthread_mutex_unlock(&lock);
    if (*out == NULL) {
        return err_set(err, CODE_FILES, "its reader (%s) cannot be started: %s", command, strerror(error));
    }
    (*out)->seconds = seconds;
    return true;
}

bool reader_process_is_used(const ReaderProcess *process)
{
    return process->used;
}

const char *reader_process_last_words(const ReaderProcess *process)
{
    return process->ended ? process->words : NULL;
}

void reader_process_end(ReaderProcess *process)
{
    pthread_mutex_lock(&lock);
    for (ReaderProcess **at = &all; *at != NULL; at = &(*at)->next) {
        if (*at == process) {
            *at = process->next;
            break;
        }
    }
    kill(-process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    pthread_mutex_unlock(&lock);
    close(process->to);
    close(process->from);
    fclose(process->said);
    free(process);
}

void reader_process_give(ReaderProcess *process)
{
    struct pollfd more = {.fd = process->from, .events = POLLIN};
    if (process->failed || process->begin < process->end || poll(&more, 1, 0) != 0) {
        reader_process_end(process);
        return;
    }
    pthread_mutex_lock(&lock);
    process->waits = true;
    pthread_mutex_unlock(&lock);
}

/* ---- talking --------------------------------------------------------------------------------- */

void reader_process_line(const char *text, char *to, size_t size)
{
    size_t n = strnlen(text, size - 1);
    memmove(to, text, n);
    to[n] = '\0';
    utf8_hide_controls(to, false);
}

/* Keeps the last line of what it wrote to standard error. */
static void hear_last_words(ReaderProcess *p)
{
    char tail[TAIL_BYTES + 1];
    int fd = fileno(p->said);
    off_t size = lseek(fd, 0, SEEK_END), from = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    ssize_t n = size > 0 ? pread(fd, tail, TAIL_BYTES, from) : 0;
    while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == ' ')) {
        n--;
    }
    tail[n > 0 ? n : 0] = '\0';
    const char *line = strrchr(tail, '\n');
    reader_process_line(line != NULL ? line + 1 : tail, p->words, sizeof p->words);
}

static bool has_ended(ReaderProcess *p, const char *when, Err *err)
{
    hear_last_words(p);
    p->failed = p->ended = true;
    return err_set(err, CODE_FILES, "its reader (%s) ended %s%s%s", p->command, when, p->words[0] != '\0' ? ": " : "",
                   p->words);
}

/* Waits until a pipe is ready, for as long as the answer may take. */
static bool wait_for(ReaderProcess *p, int fd, short events, Err *err)
{
    struct pollfd pipe = {.fd = fd, .events = events};
    const uint64_t ms = 1000000u, until = stopwatch_now() + (uint64_t)p->seconds * 1000 * ms;
    for (uint64_t now; (now = stopwatch_now()) < until;) {
        if (poll(&pipe, 1, (int)((until - now) / ms % 60000u) + 1) > 0) {
            return true;
        }
    }
    p->failed = true;
    return err_set(err, CODE_FILES, "its reader (%s) did not go on for %d s; --reader-timeout gives it more",
                   p->command, p->seconds);
}

/* Some bytes, at most `size`. */
static bool receive(ReaderProcess *p, void *to, size_t size, const char *when, size_t *got, Err *err)
{
    ssize_t n;
    do {
        TRY(wait_for(p, p->from, POLLIN, err));
        n = read(p->from, to, size);
    } while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    return n > 0 || has_ended(p, when, err);
}

static bool send_line(ReaderProcess *p, const char *line, Err *err)
{
    size_t n = strlen(line), done = 0;
    while (done <= n) {
        TRY(wait_for(p, p->to, POLLOUT, err));
        ssize_t put = done < n ? write(p->to, line + done, n - done) : write(p->to, "\n", 1);
        if (put < 0 && errno != EINTR && errno != EAGAIN) {
            return has_ended(p, "before it answered", err);
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

bool reader_process_ask(ReaderProcess *process, const char *request, char **reply, Err *err)
{
    process->begin = process->end = 0;
    TRY(send_line(process, request, err));
    for (;;) {
        char *line = process->buffer + process->begin;
        char *end = memchr(line, '\n', process->end - process->begin);
        if (end != NULL) {
            *end = '\0';
            process->begin = (size_t)(end + 1 - process->buffer);
            *reply = line;
            return true;
        }
        if (process->end == sizeof process->buffer) {
            process->failed = true;
            return err_set(err, CODE_FILES, "its reader (%s) answered with a line of more than %d bytes",
                           process->command, LINE_MOST);
        }
        size_t got;
        TRY(receive(process, process->buffer + process->end, sizeof process->buffer - process->end,
                    "before it answered", &got, err));
        process->end += got;
    }
}

bool reader_process_bytes(ReaderProcess *process, void *to, size_t size, Err *err)
{
    size_t ahead = process->end - process->begin, done = ahead < size ? ahead : size;
    memcpy(to, process->buffer + process->begin, done);
    process->begin += done;
    while (done < size) {
        size_t got;
        TRY(receive(process, (char *)to + done, size - done, "in the midst of pixels", &got, err));
        done += got;
    }
    return true;
}
