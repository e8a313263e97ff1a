/*
 * zarr_json: metadata of zarr folders: small JSON texts, of which nothing is believed before it is looked at.
 */
#ifndef RUNTIME_FILES_ZARR_JSON_H
#define RUNTIME_FILES_ZARR_JSON_H

#include "../../base/err.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The text called `name` in an open folder.  *out is owned by the caller (cJSON_Delete), and NULL where there is no such
 * file.  False for one that is no JSON, is of another version than its name says, cannot be read, or is larger than any metadata.
 */
bool zarr_json_read(int folder, const char *name, cJSON **out, Err *err);

/* A member that is there and of the kind; else NULL.  `at` may be NULL. */
const cJSON *zarr_json_object(const cJSON *at, const char *key);
const cJSON *zarr_json_array(const cJSON *at, const char *key);
const char *zarr_json_text(const cJSON *at, const char *key);
/* A whole number from `least` to 2^53; false for all others. */
bool zarr_json_whole(const cJSON *number, int64_t least, int64_t *to);

#endif
