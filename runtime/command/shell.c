/* shell: see shell.h. */
#include "shell.h"

#include <string.h>

void shell_put_quoted(const char *word, FILE *to)
{
    putc('\'', to);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\'" : "", to);
        putc(*word, to);
    }
    putc('\'', to);
}

void shell_put_word(const char *word, FILE *to)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+%";
    if (word[0] != '\0' && word[strspn(word, PLAIN)] == '\0') {
        fputs(word, to);
    } else {
        shell_put_quoted(word, to);
    }
}
