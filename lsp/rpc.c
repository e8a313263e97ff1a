/* rpc: headers and bodies. */
#include "rpc.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = 1000, MOST_BYTES = 64 << 20 };

/* One line of a header without its end; false at the end of the stream or where it is too long. */
static bool read_line(FILE *from, char line[LINE])
{
    if (fgets(line, LINE, from) == NULL || strchr(line, '\n') == NULL) {
        return false;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

RpcRead rpc_read(FILE *from, cJSON **message)
{
    static const char LENGTH[] = "Content-Length:";
    char line[LINE];
    long bytes = -1;
    *message = NULL;
    do {
        if (!read_line(from, line)) {
            return RPC_END;
        }
        if (strncasecmp(line, LENGTH, sizeof LENGTH - 1) == 0) {
            bytes = strtol(line + sizeof LENGTH - 1, NULL, 10);
        }
    } while (line[0] != '\0');
    if (bytes < 0 || bytes > MOST_BYTES) {
        return bytes < 0 ? RPC_BROKEN : RPC_END;
    }
    char *body = malloc((size_t)bytes + 1);
    if (body == NULL || fread(body, 1, (size_t)bytes, from) != (size_t)bytes) {
        free(body);
        return RPC_END;
    }
    *message = cJSON_ParseWithLength(body, (size_t)bytes);
    free(body);
    return *message != NULL ? RPC_MESSAGE : RPC_BROKEN;
}

bool rpc_write(FILE *to, cJSON *message)
{
    char *text = message != NULL ? cJSON_PrintUnformatted(message) : NULL;
    bool ok = text != NULL && fprintf(to, "Content-Length: %zu\r\n\r\n%s", strlen(text), text) > 0 && fflush(to) == 0;
    cJSON_free(text);
    cJSON_Delete(message);
    return ok;
}

static cJSON *new_message(void)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "jsonrpc", "2.0");
    return message;
}

static void add_id(cJSON *message, const cJSON *id)
{
    cJSON_AddItemToObject(message, "id", id != NULL ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
}

cJSON *rpc_answer(const cJSON *id, cJSON *result)
{
    cJSON *message = new_message();
    add_id(message, id);
    cJSON_AddItemToObject(message, "result", result != NULL ? result : cJSON_CreateNull());
    return message;
}

cJSON *rpc_failure(const cJSON *id, int code, const char *text)
{
    cJSON *message = new_message(), *error = cJSON_CreateObject();
    add_id(message, id);
    cJSON_AddNumberToObject(error, "code", code);
    cJSON_AddStringToObject(error, "message", text);
    cJSON_AddItemToObject(message, "error", error);
    return message;
}

cJSON *rpc_notice(const char *method, cJSON *params)
{
    cJSON *message = new_message();
    cJSON_AddStringToObject(message, "method", method);
    cJSON_AddItemToObject(message, "params", params);
    return message;
}
