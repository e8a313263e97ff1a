/*
 * document: the text of an open file, compiled as far as its graph, and places in it.
 *
 * Editors count columns in UTF-16 units unless they agree to bytes; everything else here counts bytes.
 */
#ifndef LSP_DOCUMENT_H
#define LSP_DOCUMENT_H

#include "../library/compile.h"

#include <cjson/cJSON.h>

typedef struct Document {
    char *uri;
    Compilation c;
    bool graph; /* the text is right as far as that is known: c.graph is there */
    bool bytes; /* columns are bytes */
} Document;

/* Compiles the text; the document is owned by the caller (document_close).  NULL: out of memory. */
Document *document_open(const char *uri, const char *text, bool bytes);
void document_close(Document *document); /* NULL is allowed */

/* {line, character} of a byte, and back; what is behind the end of a line or of the text is its end. */
cJSON *document_position(const Document *document, int byte);
int document_byte(const Document *document, const cJSON *position);
cJSON *document_range(const Document *document, int begin, int end);

/* The word that a byte is in or right behind: [begin, end); empty: none. */
typedef struct Word {
    int begin, end;
} Word;
Word document_word(const Document *document, int byte);
/* A copy in the document's arena. */
const char *document_text(Document *document, Word word);

/* The statement that gives a name its value for a reader at this byte: the last one before it, else the first one; NULL:
 * none. */
const AstStmt *document_definition(const Document *document, const char *name, int byte);
/* "image f32[y, x]": what is known of a name; NULL: nothing. */
const char *document_kind(Document *document, const char *name);

#endif
