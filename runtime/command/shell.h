/* shell: words as a POSIX shell reads them. */
#ifndef RUNTIME_SHELL_H
#define RUNTIME_SHELL_H

#include <stdio.h>

/* Between quotes. */
void shell_put_quoted(const char *word, FILE *to);
/* Between quotes where it needs them. */
void shell_put_word(const char *word, FILE *to);

#endif
