/*
 * op_arguments: writes names for the places of arguments, made from the signatures of ops.def.
 *
 * For an operator that is a function of frontend/elaborate/: enum { WATERSHED_IMAGE, WATERSHED_MARKERS ... }, so that
 * call->arg[WATERSHED_MARKERS] is checked by the compiler.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *op, *signature, *implementation;
} OPS[] = {
#define GROUP(title)
#define OP(name, signature, implementation, line, text, example, clesperanto, skimage, scipy) \
    {name, signature, #implementation},
#include "../frontend/ops/ops.def"
};

static void print_upper(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        putchar(toupper((unsigned char)text[i]));
    }
}

/* Each word in front of a colon is a parameter. */
static void print_arguments(const char *op, const char *signature)
{
    printf("enum {");
    for (const char *p = signature, *colon; (colon = strchr(p, ':')) != NULL; p = colon + 1) {
        const char *word = colon;
        while (word > p && (isalnum((unsigned char)word[-1]) || word[-1] == '_')) {
            word--;
        }
        putchar(' ');
        print_upper(op, strlen(op));
        putchar('_');
        print_upper(word, (size_t)(colon - word));
        putchar(',');
    }
    printf(" };\n");
}

int main(void)
{
    printf("/* Made from ops.def: the places of arguments in a call. */\n");
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++) {
        if (strcmp(OPS[i].implementation, "el_prelude") != 0 && OPS[i].signature[0] != '\0') {
            print_arguments(OPS[i].op, OPS[i].signature);
        }
    }
    return 0;
}
