/* json: see json.h. */
#include "json.h"

#include "utf8.h"

#include <string.h>

enum { LETTER = 4 }; /* bytes of the longest */

const char *json_piece(const char *text, char piece[JSON_PIECE])
{
    unsigned char c = (unsigned char)*text;
    int size = utf8_size(text, (int)strnlen(text, LETTER));
    if (c == '"' || c == '\\') {
        snprintf(piece, JSON_PIECE, "\\%c", c);
    } else if (c == '\n' || c == '\t') {
        snprintf(piece, JSON_PIECE, "\\%c", c == '\n' ? 'n' : 't');
    } else if (c < 0x20 || c == 0x7F) {
        snprintf(piece, JSON_PIECE, "\\u%04x", c);
    } else if (size == 0) {
        snprintf(piece, JSON_PIECE, "\\\\x%02X", c);
    } else {
        snprintf(piece, JSON_PIECE, "%.*s", size, text);
    }
    return text + (size > 0 ? size : 1);
}

void json_put_text(FILE *to, const char *text)
{
    char piece[JSON_PIECE];
    putc('"', to);
    while (text != NULL && *text != '\0') {
        text = json_piece(text, piece);
        fputs(piece, to);
    }
    putc('"', to);
}
