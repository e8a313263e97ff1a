/* utf8: texts that somebody else wrote, a character at a time. */
#include "utf8.h"

#include <string.h>

int utf8_size(const char *s, int n)
{
    const unsigned char *p = (const unsigned char *)s;
    int size = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (size == 0 || p[0] > 0xF4 || size > n) {
        return 0;
    }
    for (int i = 1; i < size; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
    bool beyond = (p[0] == 0xED && p[1] >= 0xA0) || (p[0] == 0xF4 && p[1] >= 0x90);
    return overlong || beyond ? 0 : size;
}

/* True for characters that a terminal or an editor acts on instead of showing them: C0 and C1, ends of lines and of
 * paragraphs, and those that turn the direction of writing around. */
static bool is_control(const char *s, int size)
{
    const unsigned char *p = (const unsigned char *)s;
    if (size == 1) {
        return p[0] < 32 || p[0] == 127;
    }
    if (size == 2) {
        return p[0] == 0xC2 && p[1] < 0xA0;
    }
    bool general = size == 3 && p[0] == 0xE2;
    bool separator = general && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9);
    bool turn =
        general && ((p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE) || (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9));
    return separator || turn;
}

void utf8_add_clean(Str *out, const char *text, int n)
{
    for (int i = 0; i < n;) {
        int size = utf8_size(text + i, n - i);
        if (size == 0 || (is_control(text + i, size) && text[i] != '\n' && text[i] != '\t')) {
            str_add(out, UTF8_REPLACEMENT);
            i += size == 0 ? 1 : size;
        } else {
            str_addn(out, text + i, (size_t)size);
            i += size;
        }
    }
}

void utf8_hide_controls(char *text, bool lines)
{
    for (int left = (int)strlen(text), size; left > 0; text += size, left -= size) {
        size = utf8_size(text, left);
        bool hidden = size > 0 && is_control(text, size) && !(lines && (*text == '\n' || *text == '\t'));
        size = size > 0 ? size : 1;
        if (hidden) {
            memset(text, '?', (size_t)size);
        }
    }
}
