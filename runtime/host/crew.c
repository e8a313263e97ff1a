/* crew: pieces are taken from a counter under one lock; they are few and large. */
#include "crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More threads than USUAL get no more out of memory and files; who computes may have more.  A piece of less than LEAST bytes
 * takes less time than waking somebody up for it. */
enum { MOST = 31, USUAL = 7, LEAST = 512 << 10 };

struct Crew {
    pthread_t threads[MOST];
    int n;
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    void (*work)(void *context, int piece);
    void *context;
    int next, pieces, left; /* left: pieces that are not done */
    bool stop;
};

/* Does pieces until none is left to begin; called and left with the lock held. */
static void take_part(Crew *crew)
{
    while (crew->next < crew->pieces) {
        int piece = crew->next++;
        pthread_mutex_unlock(&crew->lock);
        crew->work(crew->context, piece);
        pthread_mutex_lock(&crew->lock);
        if (--crew->left == 0) {
            pthread_cond_signal(&crew->done);
        }
    }
}

static void *crew_thread(void *context)
{
    Crew *crew = context;
    pthread_mutex_lock(&crew->lock);
    while (!crew->stop) {
        take_part(crew);
        pthread_cond_wait(&crew->begun, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

Crew *crew_new(int threads)
{
    long half = sysconf(_SC_NPROCESSORS_ONLN) / 2;
    long usual = half - 1 < USUAL ? half - 1 : USUAL, wanted = threads > 0 ? threads : usual;
    wanted = wanted < MOST ? wanted : MOST;
    Crew *crew = wanted > 0 ? calloc(1, sizeof *crew) : NULL;
    if (crew == NULL) {
        return NULL;
    }
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begun, NULL);
    pthread_cond_init(&crew->done, NULL);
    while (crew->n < wanted && pthread_create(&crew->threads[crew->n], NULL, crew_thread, crew) == 0) {
        crew->n++;
    }
    return crew;
}

void crew_free(Crew *crew)
{
    if (crew == NULL) {
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->stop = true;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < crew->n; i++) {
        pthread_join(crew->threads[i], NULL);
    }
    pthread_cond_destroy(&crew->begun);
    pthread_cond_destroy(&crew->done);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}

void crew_run(Crew *crew, void (*work)(void *context, int piece), void *context, int pieces)
{
    if (crew == NULL || pieces <= 1) {
        for (int i = 0; i < pieces; i++) {
            work(context, i);
        }
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->next = 0;
    crew->pieces = crew->left = pieces;
    pthread_cond_broadcast(&crew->begun);
    take_part(crew); /* nobody else has the lock before piece 0 is taken */
    while (crew->left > 0) {
        pthread_cond_wait(&crew->done, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

int crew_pieces(const Crew *crew, size_t bytes)
{
    size_t pieces = bytes / LEAST, most = crew != NULL ? (size_t)crew->n + 1 : 1;
    pieces = pieces < most ? pieces : most;
    return pieces > 1 ? (int)pieces : 1;
}

typedef struct Copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, bytes, rows;
    int pieces;
} Copy;

static void copy_piece(void *context, int piece)
{
    const Copy *c = context;
    size_t first = c->rows * (size_t)piece / (size_t)c->pieces;
    size_t end = c->rows * ((size_t)piece + 1) / (size_t)c->pieces;
    if (c->to_pitch == c->bytes && c->from_pitch == c->bytes) {
        memcpy(c->to + first * c->bytes, c->from + first * c->bytes, (end - first) * c->bytes);
        return;
    }
    for (size_t y = first; y < end; y++) {
        memcpy(c->to + y * c->to_pitch, c->from + y * c->from_pitch, c->bytes);
    }
}

void crew_copy(Crew *crew, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes, size_t rows)
{
    Copy copy = {to, from, to_pitch, from_pitch, bytes, rows, crew_pieces(crew, bytes * rows)};
    crew_run(crew, copy_piece, &copy, copy.pieces);
}
