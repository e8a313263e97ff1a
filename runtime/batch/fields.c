/* fields: three characters are escaped, so that any name of a file and any sentence is one field of one line. */
#include "fields.h"

#include <string.h>

void fields_put(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '\t':
            fputs("\\t", to);
            break;
        case '\n':
            fputs("\\n", to);
            break;
        case '\\':
            fputs("\\\\", to);
            break;
        default:
            putc(*text, to);
        }
    }
    putc('\t', to);
}

static void unescape(char *text)
{
    char *to = text;
    for (; *text != '\0'; text++) {
        if (*text == '\\' && text[1] != '\0') {
            text++;
            *to++ = (char)(*text == 't' ? '\t' : *text == 'n' ? '\n' : *text);
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
}

int fields_split(char *line, char **fields, int room)
{
    int n = 0;
    while (n < room) {
        char *tab = strchr(line, '\t');
        fields[n++] = line;
        if (tab == NULL) {
            break;
        }
        *tab = '\0';
        line = tab + 1;
    }
    for (int i = 0; i < n; i++) {
        unescape(fields[i]);
    }
    return n;
}
