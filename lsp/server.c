/* server: requests by name. */
#include "server.h"

#include "features.h"
#include "rpc.h"

#include <stdlib.h>
#include <string.h>

enum { PARSE_ERROR = -32700, INVALID = -32600, NO_METHOD = -32601, NOT_BEGUN = -32002 };
enum { MOST_DOCUMENTS = 256 };

typedef struct Server {
    FILE *to;
    Arena arena; /* of the table of operators */
    const Ops *ops;
    Document *documents[MOST_DOCUMENTS];
    int n;
    bool bytes; /* the editor counts columns in bytes */
    bool begun, leaving, gone;
} Server;

static const cJSON *member(const cJSON *of, const char *a, const char *b)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(of, a);
    return b != NULL ? cJSON_GetObjectItemCaseSensitive(item, b) : item;
}

static const char *text_at(const cJSON *of, const char *a, const char *b)
{
    return cJSON_GetStringValue(member(of, a, b));
}

/* ---- documents ------------------------------------------------------------------------- */

static Document **find(Server *s, const char *uri)
{
    for (int i = 0; uri != NULL && i < s->n; i++) {
        if (strcmp(s->documents[i]->uri, uri) == 0) {
            return &s->documents[i];
        }
    }
    return NULL;
}

static void publish(Server *s, const char *uri, cJSON *diagnostics)
{
    cJSON *params = cJSON_CreateObject();
    cJSON_AddStringToObject(params, "uri", uri);
    cJSON_AddItemToObject(params, "diagnostics", diagnostics);
    s->gone = !rpc_write(s->to, rpc_notice("textDocument/publishDiagnostics", params)) || s->gone;
}

static void set_text(Server *s, const char *uri, const char *text)
{
    if (uri == NULL || text == NULL) {
        return;
    }
    Document **at = find(s, uri), *d = document_open(uri, text, s->bytes);
    if (d == NULL || (at == NULL && s->n == MOST_DOCUMENTS)) {
        document_close(d);
        return;
    }
    if (at == NULL) {
        at = &s->documents[s->n++];
    } else {
        document_close(*at);
    }
    *at = d;
    publish(s, uri, feature_diagnostics(d));
}

static void did_open(Server *s, const cJSON *params)
{
    set_text(s, text_at(params, "textDocument", "uri"), text_at(params, "textDocument", "text"));
}

/* The whole text each time, which is what the server asks for. */
static void did_change(Server *s, const cJSON *params)
{
    const cJSON *changes = member(params, "contentChanges", NULL);
    const cJSON *last = cJSON_GetArrayItem(changes, cJSON_GetArraySize(changes) - 1);
    set_text(s, text_at(params, "textDocument", "uri"), text_at(last, "text", NULL));
}

static void did_close(Server *s, const cJSON *params)
{
    Document **at = find(s, text_at(params, "textDocument", "uri"));
    if (at != NULL) {
        publish(s, (*at)->uri, cJSON_CreateArray());
        document_close(*at);
        *at = s->documents[--s->n];
    }
}

/* ---- requests -------------------------------------------------------------------------- */

static bool knows_bytes(const cJSON *params)
{
    const cJSON *one,
        *all = cJSON_GetObjectItemCaseSensitive(member(params, "capabilities", "general"), "positionEncodings");
    cJSON_ArrayForEach(one, all)
    {
        const char *name = cJSON_GetStringValue(one);
        if (name != NULL && strcmp(name, "utf-8") == 0) {
            return true;
        }
    }
    return false;
}

static cJSON *initialize(Server *s, const cJSON *params)
{
    static const char *const ABLE[] = {"hoverProvider", "definitionProvider", "documentFormattingProvider",
                                       "inlayHintProvider", "codeActionProvider"};
    enum { WHOLE_TEXT = 1 };
    s->bytes = knows_bytes(params);
    s->begun = true;
    cJSON *to = cJSON_CreateObject(), *able = cJSON_CreateObject(), *info = cJSON_CreateObject();
    cJSON *completion = cJSON_CreateObject(), *triggers = cJSON_CreateArray();
    cJSON_AddStringToObject(able, "positionEncoding", s->bytes ? "utf-8" : "utf-16");
    cJSON_AddNumberToObject(able, "textDocumentSync", WHOLE_TEXT);
    for (size_t i = 0; i < sizeof ABLE / sizeof *ABLE; i++) {
        cJSON_AddBoolToObject(able, ABLE[i], true);
    }
    cJSON_AddItemToArray(triggers, cJSON_CreateString("."));
    cJSON_AddItemToArray(triggers, cJSON_CreateString("("));
    cJSON_AddItemToObject(completion, "triggerCharacters", triggers);
    cJSON_AddItemToObject(able, "completionProvider", completion);
    cJSON_AddStringToObject(info, "name", "pipec");
    cJSON_AddStringToObject(info, "version", PIPEC_VERSION);
    cJSON_AddItemToObject(to, "capabilities", able);
    cJSON_AddItemToObject(to, "serverInfo", info);
    return to;
}

static cJSON *shut_down(Server *s, const cJSON *params)
{
    (void)params;
    s->leaving = true;
    return NULL;
}

static Document *document_of(Server *s, const cJSON *params)
{
    Document **at = find(s, text_at(params, "textDocument", "uri"));
    return at != NULL ? *at : NULL;
}

static cJSON *hover(Server *s, const cJSON *params)
{
    Document *d = document_of(s, params);
    return d != NULL ? feature_hover(d, s->ops, document_byte(d, member(params, "position", NULL))) : NULL;
}

static cJSON *complete(Server *s, const cJSON *params)
{
    Document *d = document_of(s, params);
    return d != NULL ? feature_completion(d, s->ops, document_byte(d, member(params, "position", NULL))) : NULL;
}

static cJSON *define(Server *s, const cJSON *params)
{
    Document *d = document_of(s, params);
    return d != NULL ? feature_definition(d, s->ops, document_byte(d, member(params, "position", NULL))) : NULL;
}

static cJSON *format(Server *s, const cJSON *params)
{
    Document *d = document_of(s, params);
    return d != NULL ? feature_formatting(d) : NULL;
}

static cJSON *in_range(Server *s, const cJSON *params, cJSON *(*feature)(Document *, int, int))
{
    Document *d = document_of(s, params);
    return d != NULL ? feature(d, document_byte(d, member(params, "range", "start")),
                               document_byte(d, member(params, "range", "end")))
                     : NULL;
}

static cJSON *hint(Server *s, const cJSON *params)
{
    return in_range(s, params, feature_hints);
}

static cJSON *fix(Server *s, const cJSON *params)
{
    return in_range(s, params, feature_fixes);
}

static const struct Request {
    const char *method;
    cJSON *(*answer)(Server *s, const cJSON *params);
} REQUESTS[] = {{"initialize", initialize},          {"shutdown", shut_down},
                {"textDocument/hover", hover},       {"textDocument/completion", complete},
                {"textDocument/definition", define}, {"textDocument/formatting", format},
                {"textDocument/inlayHint", hint},    {"textDocument/codeAction", fix}};

static const struct Notice {
    const char *method;
    void (*take)(Server *s, const cJSON *params);
} NOTICES[] = {{"textDocument/didOpen", did_open},
               {"textDocument/didChange", did_change},
               {"textDocument/didClose", did_close}};

static cJSON *answer(Server *s, const char *method, const cJSON *id, const cJSON *params)
{
    if (!s->begun && strcmp(method, "initialize") != 0) {
        return rpc_failure(id, NOT_BEGUN, "the first request is `initialize`");
    }
    for (size_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++) {
        if (strcmp(REQUESTS[i].method, method) == 0) {
            return s->leaving ? rpc_failure(id, INVALID, "the server has been shut down")
                              : rpc_answer(id, REQUESTS[i].answer(s, params));
        }
    }
    return rpc_failure(id, NO_METHOD, "pipec does not know this request");
}

static void take(Server *s, const char *method, const cJSON *params)
{
    for (size_t i = 0; s->begun && i < sizeof NOTICES / sizeof *NOTICES; i++) {
        if (strcmp(NOTICES[i].method, method) == 0) {
            NOTICES[i].take(s, params);
        }
    }
    s->gone = s->gone || strcmp(method, "exit") == 0;
}

static void handle(Server *s, const cJSON *message)
{
    const cJSON *id = member(message, "id", NULL), *params = member(message, "params", NULL);
    const char *method = text_at(message, "method", NULL);
    if (method == NULL) {
        s->gone = (id == NULL && !rpc_write(s->to, rpc_failure(NULL, INVALID, "this is no request"))) || s->gone;
    } else if (id != NULL) {
        s->gone = !rpc_write(s->to, answer(s, method, id, params)) || s->gone;
    } else {
        take(s, method, params);
    }
}

int lsp_serve(FILE *from, FILE *to)
{
    Server s = {.to = to};
    arena_init(&s.arena);
    s.ops = ops_load(&s.arena);
    while (!s.gone) {
        cJSON *message;
        RpcRead what = rpc_read(from, &message);
        if (what == RPC_MESSAGE) {
            handle(&s, message);
        } else {
            s.gone = what == RPC_END || !rpc_write(to, rpc_failure(NULL, PARSE_ERROR, "this is no JSON"));
        }
        cJSON_Delete(message);
    }
    for (int i = 0; i < s.n; i++) {
        document_close(s.documents[i]);
    }
    arena_free(&s.arena);
    return s.leaving ? 0 : 1;
}
