/* err: the first failure's text and exit code. */
#include "err.h"

#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(Err *err, int code, const char *format, ...)
{
    if (err->code != CODE_OK) {
        return false;
    }
    err->code = code;
    err->transient = false;
    va_list ap;
    va_start(ap, format);
    vsnprintf(err->text, sizeof err->text, format, ap);
    va_end(ap);
    utf8_hide_controls(err->text, true);
    return false;
}

bool err_prefix(Err *err, const char *format, ...)
{
    char head[300], tail[sizeof err->text];
    va_list ap;
    va_start(ap, format);
    vsnprintf(head, sizeof head, format, ap);
    va_end(ap);
    memcpy(tail, err->text, sizeof tail);
    snprintf(err->text, sizeof err->text, "%s: %.690s", head, tail);
    utf8_hide_controls(err->text, true);
    return false;
}

void err_clear(Err *err)
{
    err->code = CODE_OK;
    err->transient = false;
    err->text[0] = '\0';
}

int err_exit_code(const Err *err)
{
    return err->transient ? CODE_AGAIN : err->code;
}
