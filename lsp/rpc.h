/*
 * rpc: messages of the language server protocol: JSON with a header that says how long it is, over two streams.
 */
#ifndef LSP_RPC_H
#define LSP_RPC_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum RpcRead { RPC_MESSAGE, RPC_BROKEN, RPC_END } RpcRead;

/* The next message, owned by the caller (cJSON_Delete).  BROKEN: it is no JSON, or its header makes no sense; what
 * follows it can be read.  END: there are no more. */
RpcRead rpc_read(FILE *from, cJSON **message);
/* Writes a message and deletes it; false: nobody reads any more. */
bool rpc_write(FILE *to, cJSON *message);

/* An answer to the request with this id: `result` is taken; NULL is null. */
cJSON *rpc_answer(const cJSON *id, cJSON *result);
cJSON *rpc_failure(const cJSON *id, int code, const char *text);
/* A notification; `params` is taken. */
cJSON *rpc_notice(const char *method, cJSON *params);

#endif
