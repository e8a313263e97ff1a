/* zarr_plate: the metadata of a plate list its wells, those of a well its fields. */
#include "zarr_plate.h"

#include "../../base/file.h"
#include "image_path.h"
#include "zarr_ome.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool read_folder(const char *path, ZarrOme *ome, Err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return file_err_set(err, CODE_FILES, "open", path, errno);
    }
    bool ok = zarr_ome_read(fd, ome, err) || err_prefix(err, "cannot read '%s'", path);
    close(fd);
    return ok;
}

static bool join(const char *folder, const char *name, char to[IMAGE_PATH_BYTES], Err *err)
{
    bool ok = name != NULL && zarr_path_is_inside(name) &&
              snprintf(to, IMAGE_PATH_BYTES, "%s/%s", folder, name) < IMAGE_PATH_BYTES;
    return ok || err_set(err, CODE_FILES, "cannot read '%s': the path of a well or a field is damaged", folder);
}

typedef bool Take(void *context, const char *path, Err *err);

/* The fields of a well whose metadata are read. */
static bool take_fields(const char *well, const ZarrOme *ome, Take *take, void *context, Err *err)
{
    char path[IMAGE_PATH_BYTES];
    const cJSON *fields = zarr_json_array(zarr_json_object(ome->at, "well"), "images"), *field;
    bool ok = fields != NULL || err_set(err, CODE_FILES, "cannot read '%s': it lists no fields", well);
    cJSON_ArrayForEach(field, fields)
    {
        ok = ok && join(well, zarr_json_text(field, "path"), path, err) && take(context, path, err);
    }
    return ok;
}

/* One that cannot be read is taken itself, so that it fails and the others do not. */
static bool take_well(const char *well, Take *take, void *context, Err *err)
{
    ZarrOme ome;
    Err damage = {0};
    if (!read_folder(well, &ome, &damage)) {
        return take(context, well, err);
    }
    bool ok = take_fields(well, &ome, take, context, err);
    zarr_ome_free(&ome);
    return ok;
}

static bool take_wells(const char *plate, const ZarrOme *ome, Take *take, void *context, Err *err)
{
    char path[IMAGE_PATH_BYTES];
    const cJSON *wells = zarr_json_array(zarr_json_object(ome->at, "plate"), "wells"), *well;
    bool ok = wells != NULL || err_set(err, CODE_FILES, "cannot read '%s': it is a plate that lists no wells", plate);
    cJSON_ArrayForEach(well, wells)
    {
        ok = ok && join(plate, zarr_json_text(well, "path"), path, err) && take_well(path, take, context, err);
    }
    return ok;
}

bool zarr_plate_fields(const char *folder, bool (*take)(void *context, const char *path, Err *err), void *context,
                       bool *is_plate, Err *err)
{
    ZarrOme ome;
    Err damage = {0};
    *is_plate = false;
    if (!read_folder(folder, &ome, &damage)) {
        return true; /* as an image it says so */
    }
    bool well = ome.kind == ZARR_WELL;
    *is_plate = well || ome.kind == ZARR_PLATE;
    bool ok = !*is_plate || (well ? take_fields : take_wells)(folder, &ome, take, context, err);
    zarr_ome_free(&ome);
    return ok;
}
