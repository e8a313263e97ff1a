/*
 * reader: files are read plane by plane; where several planes or channels lie in one piece of the file, some rows of all of
 * them before the next rows, so that it is decoded once.
 */
#include "reader.h"

#include "../exec/host.h"

#include <stdlib.h>
#include <string.h>

typedef struct ReaderInput {
    ImageFile *file;
    Frames frames;
    int64_t channel; /* the only one that is read; -1: all */
    Volume *fixed;   /* the same for all frames; NULL until it is read */
} ReaderInput;

enum {
    TOGETHER =
        4 << 20,     /* bytes of rows of which all samples are read before the next ones: the file has them together */
    LARGE = 16 << 20 /* bytes of a frame that several threads take apart */
};

struct Reader {
    const Program *program;
    const BatchItem *item;
    VolumeCache *cache;
    Frames frames;
    ReaderInput *inputs;
    ExecInput *like;
    Crew *crew; /* of whole frames that are large; NULL: none has come */
};

/* ---- volumes --------------------------------------------------------------------------- */

Volume *volume_keep(Volume *volume)
{
    atomic_fetch_add(&volume->users, 1);
    return volume;
}

void volume_release(Volume *volume)
{
    if (volume != NULL && atomic_fetch_sub(&volume->users, 1) == 1) {
        host_pool_give(volume->pool, volume->pixels);
        free(volume);
    }
}

bool volume_cache_init(VolumeCache *cache, int n, HostPool *pool, Err *err)
{
    cache->pool = pool;
    cache->n = n;
    cache->volumes = calloc((size_t)n + 1, sizeof *cache->volumes);
    cache->paths = calloc((size_t)n + 1, sizeof *cache->paths);
    pthread_mutex_init(&cache->lock, NULL);
    return (cache->volumes != NULL && cache->paths != NULL) ||
           err_set(err, CODE_MEMORY, "out of host memory for the inputs");
}

void volume_cache_free(VolumeCache *cache)
{
    for (int i = 0; i < cache->n; i++) {
        volume_release(cache->volumes != NULL ? cache->volumes[i] : NULL);
        free(cache->paths != NULL ? cache->paths[i] : NULL);
    }
    free(cache->volumes);
    free(cache->paths);
    pthread_mutex_destroy(&cache->lock);
}

static int64_t channels_of(const ReaderInput *in)
{
    return in->channel >= 0 ? 1 : in->frames.volume.extent[3];
}

static size_t volume_bytes(const ReaderInput *in)
{
    const ExecInput *like = &in->frames.volume;
    return (size_t)like->extent[0] * (size_t)like->extent[1] * (size_t)like->extent[2] * (size_t)channels_of(in) *
           elem_size(like->elem);
}

static Volume *volume_new(const ReaderInput *in, HostPool *pool, Err *err)
{
    Volume *v = calloc(1, sizeof *v);
    size_t bytes = volume_bytes(in);
    void *pixels = host_pool_take(pool, bytes, NULL);
    if (v == NULL || pixels == NULL) {
        free(v);
        host_pool_give(pool, pixels);
        err_set(err, CODE_MEMORY, "out of host memory: a frame of this image has %zu MiB", bytes >> 20);
        return NULL;
    }
    atomic_init(&v->users, 1);
    v->like = in->frames.volume;
    v->channel = in->channel;
    v->bytes = bytes;
    v->pixels = pixels;
    v->pool = pool;
    v->device = host_pool_device(pool, pixels);
    return v;
}

/* ---- reading --------------------------------------------------------------------------- */

/* Rows to be read of all channels and of all planes that lie together, before the next rows. */
static int64_t rows_together(const ReaderInput *in)
{
    const ImageInfo *info = image_info(in->file);
    const int64_t *e = in->frames.volume.extent;
    int64_t few = (int64_t)(TOGETHER / ((size_t)e[0] * elem_size(info->elem) * (size_t)channels_of(in)));
    bool deep = info->together.planes > 1 || info->together.channels > 1;
    return deep ? info->together.rows : !info->rgb ? e[1] : few > 0 ? few : 1;
}

static bool read_rows(const ReaderInput *in, int64_t k, int64_t z, int64_t row, int64_t rows, char *to, size_t apart,
                      Err *err)
{
    const ExecInput *like = &in->frames.volume;
    size_t line = (size_t)like->extent[0] * elem_size(like->elem);
    int64_t at[LOOPS], step = rows_together(in), first = in->channel >= 0 ? in->channel : 0, n;
    frames_at(&in->frames, k, at);
    for (int64_t y = 0; y < rows; y += n) {
        n = step - (row + y) % step;
        n = n < rows - y ? n : rows - y;
        for (int64_t c = 0; c < channels_of(in); c++) {
            TRY(image_read(in->file, at[LOOP_T], at[LOOP_C] + first + c, at[LOOP_Z] + z, row + y, n,
                           to + (size_t)c * apart + (size_t)y * line, line, err));
        }
    }
    return true;
}

static bool read_volume(const ReaderInput *in, int64_t k, Volume *v, Err *err)
{
    const int64_t *e = v->like.extent;
    size_t line = (size_t)e[0] * elem_size(v->like.elem), plane = line * (size_t)e[1];
    int64_t planes = image_info(in->file)->together.planes, high = planes > 1 ? rows_together(in) : e[1];
    planes = planes > 1 ? planes : 1;
    for (int64_t z0 = 0; z0 < e[2]; z0 += planes) {
        for (int64_t y = 0; y < e[1]; y += high) {
            for (int64_t z = z0; z < e[2] && z < z0 + planes; z++) {
                char *to = (char *)v->pixels + (size_t)z * plane + (size_t)y * line;
                TRY(read_rows(in, k, z, y, e[1] - y < high ? e[1] - y : high, to, (size_t)e[2] * plane, err));
            }
        }
    }
    return true;
}

static Volume *read_frame(const ReaderInput *in, int64_t k, HostPool *pool, Err *err)
{
    Volume *v = volume_new(in, pool, err);
    if (v != NULL && !read_volume(in, k, v, err)) {
        volume_release(v);
        return NULL;
    }
    return v;
}

/* The volume of an input that has one frame for all, from the cache where it was read before. */
static Volume *fixed_volume(Reader *reader, int i, Err *err)
{
    ReaderInput *in = &reader->inputs[i];
    VolumeCache *cache = reader->cache;
    const char *path = reader->item->inputs[i];
    if (in->fixed != NULL) {
        return volume_keep(in->fixed);
    }
    pthread_mutex_lock(&cache->lock);
    /* Which channel is read may follow from the image that the input is read for. */
    bool known =
        cache->paths[i] != NULL && strcmp(cache->paths[i], path) == 0 && cache->volumes[i]->channel == in->channel;
    if (!known) {
        volume_release(cache->volumes[i]);
        free(cache->paths[i]);
        cache->volumes[i] = read_frame(in, 0, cache->pool, err);
        cache->paths[i] = cache->volumes[i] != NULL ? strdup(path) : NULL;
    }
    in->fixed = cache->volumes[i] != NULL ? volume_keep(cache->volumes[i]) : NULL;
    pthread_mutex_unlock(&cache->lock);
    return in->fixed != NULL ? volume_keep(in->fixed) : NULL;
}

bool reader_frame(Reader *reader, int64_t k, Volume **volumes, Err *err)
{
    for (int i = 0; i < reader->program->n_inputs; i++) {
        const ReaderInput *in = &reader->inputs[i];
        bool fixed = i > 0 && in->frames.n == 1;
        if (reader->crew == NULL && volume_bytes(in) >= LARGE) {
            reader->crew = crew_new(0);
        }
        image_use_crew(in->file, reader->crew);
        volumes[i] = fixed ? fixed_volume(reader, i, err) : read_frame(in, k, reader->cache->pool, err);
        if (volumes[i] == NULL) {
            return false;
        }
    }
    return true;
}

void reader_channels(const Reader *reader, int input, int64_t *first, int64_t *n)
{
    const ReaderInput *in = &reader->inputs[input];
    *first = in->channel >= 0 ? in->channel : 0;
    *n = channels_of(in);
}

bool reader_rows(Reader *reader, int64_t k, int input, int64_t z, int64_t row, int64_t rows, void *to, size_t apart,
                 Err *err)
{
    const ReaderInput *in = &reader->inputs[input];
    bool fixed = input > 0 && in->frames.n == 1;
    return read_rows(in, fixed ? 0 : k, z, row, rows, to, apart, err);
}

bool reader_shares(const Reader *reader, int input)
{
    return image_shares(reader->inputs[input].file);
}

void reader_see(Reader *reader)
{
    if (reader->program->n_inputs > 0) {
        image_see(reader->inputs[0].file);
    }
}

bool reader_content(Reader *reader, char content[DIGEST_TEXT])
{
    return reader->program->n_inputs > 0 && image_content(reader->inputs[0].file, content);
}

void reader_use_crew(Reader *reader, Crew *crew)
{
    for (int i = 0; i < reader->program->n_inputs; i++) {
        image_use_crew(reader->inputs[i].file, crew);
    }
}

/* ---- opening --------------------------------------------------------------------------- */

static bool open_input(Reader *reader, int i, const Options *options, Err *err)
{
    ReaderInput *in = &reader->inputs[i];
    const char *path = reader->item->inputs[i];
    in->channel = -1;
    TRY(image_open(path, &in->file, err));
    const ProgInput *input = &reader->program->inputs[i];
    if (options->time_as_z) {
        image_time_as_z(in->file);
    }
    if (image_info(in->file)->palette && (input->labels || input->mask) && strchr(input->axes, 'c') == NULL) {
        image_numbers(in->file);
    }
    if (i == 0) {
        image_pixel_size(in->file, options->pixel_um);
    }
    if (!frames_of(input, image_info(in->file), &in->frames, err)) {
        return i > 0 ? err_prefix(err, "'%s'", path) : false;
    }
    if (i == 0) {
        reader->frames = in->frames;
    } else if (!frames_agree(&reader->frames, &in->frames)) {
        char own[100], first[100];
        frames_words(&in->frames, own, sizeof own);
        frames_words(&reader->frames, first, sizeof first);
        return err_set(err, CODE_FILES, "'%s' has %s, but '%s' has %s; it needs the same, or one image for all", path,
                       own, reader->item->inputs[0], first);
    }
    reader->like[i] = in->frames.volume;
    return true;
}

/* The one channel that the pipeline looks at, where that is so. */
static bool choose_channels(Reader *reader, const double *params, bool all_channels, Err *err)
{
    const Program *p = reader->program;
    HostInput *like = calloc((size_t)p->n_inputs + 1, sizeof *like);
    if (like == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for the inputs");
    }
    HostContext context = {.params = params, .inputs = like};
    for (int i = 0; i < p->n_inputs; i++) {
        memcpy(like[i].extent, reader->like[i].extent, sizeof like[i].extent);
        like[i].elem = reader->like[i].elem;
    }
    bool ok = true;
    for (int i = 0; ok && i < p->n_inputs; i++) {
        int channel = -1;
        if (p->inputs[i].channel >= 0) {
            ok = host_eval_int(p, &context, p->inputs[i].channel, "a channel", &channel, err);
        }
        if (ok && p->inputs[i].channel >= 0 && (channel < 0 || channel >= reader->like[i].extent[3])) {
            ok = err_set(err, CODE_FILES, "'%s' has %lld channel%s, counted from 0; the pipeline reads channel %d",
                         reader->item->inputs[i], (long long)reader->like[i].extent[3],
                         reader->like[i].extent[3] == 1 ? "" : "s", channel);
        }
        reader->inputs[i].channel = all_channels ? -1 : channel;
    }
    host_forget(&context);
    free(like);
    return ok;
}

bool reader_open(const Program *program, const BatchItem *item, const Options *options, bool all_channels,
                 VolumeCache *cache, Reader **out, Err *err)
{
    Reader *reader = calloc(1, sizeof *reader);
    *out = NULL;
    if (reader == NULL) {
        return err_set(err, CODE_MEMORY, "out of host memory for the inputs");
    }
    *reader = (Reader){.program = program, .item = item, .cache = cache, .frames = {.n = 1, .extent = {1, 1, 1}}};
    reader->inputs = calloc((size_t)program->n_inputs + 1, sizeof *reader->inputs);
    reader->like = calloc((size_t)program->n_inputs + 1, sizeof *reader->like);
    bool ok = (reader->inputs != NULL && reader->like != NULL) ||
              err_set(err, CODE_MEMORY, "out of host memory for the inputs");
    for (int i = 0; ok && i < program->n_inputs; i++) {
        ok = open_input(reader, i, options, err);
    }
    if (!ok || !choose_channels(reader, options->params, all_channels, err)) {
        reader_close(reader);
        return false;
    }
    *out = reader;
    return true;
}

void reader_close(Reader *reader)
{
    if (reader == NULL) {
        return;
    }
    for (int i = 0; reader->inputs != NULL && i < reader->program->n_inputs; i++) {
        image_close(reader->inputs[i].file);
        volume_release(reader->inputs[i].fixed);
    }
    crew_free(reader->crew);
    free(reader->inputs);
    free(reader->like);
    free(reader);
}

const Frames *reader_frames(const Reader *reader)
{
    return &reader->frames;
}

const ImageInfo *reader_info(const Reader *reader, int input)
{
    return input < reader->program->n_inputs ? image_info(reader->inputs[input].file) : NULL;
}

const ExecInput *reader_inputs(const Reader *reader)
{
    return reader->like;
}

size_t reader_frame_bytes(const Reader *reader)
{
    size_t bytes = 0;
    for (int i = 0; i < reader->program->n_inputs; i++) {
        bytes += volume_bytes(&reader->inputs[i]);
    }
    return bytes;
}
