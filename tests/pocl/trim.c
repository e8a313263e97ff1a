/*
 * trim: a library of built-in functions of PoCL, without those that pipec's kernels do not call.
 *
 *     trim FROM.bc TO.bc builtins.cl
 *
 * PoCL reads all of its 23,000 built-in functions in each process that compiles a kernel, which takes a second.  Kernels call those
 * that builtins.cl declares: what has the name of a word there stays, with what it calls.  Of vectors only functions whose name ends
 * in their width, and fma.  PoCL itself wants its work-groups and printf.  Functions are called as LLVM's C interface has
 * them, whose headers need not be installed: PoCL brings the library only.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct LLVMOpaqueContext LLVMContext;
typedef struct LLVMOpaqueModule LLVMModule;
typedef struct LLVMOpaqueValue LLVMValue;
typedef struct LLVMOpaqueMemoryBuffer LLVMMemoryBuffer;
enum { LLVMInternalLinkage = 8 };

LLVMContext *LLVMContextCreate(void);
void LLVMContextDispose(LLVMContext *);
int LLVMCreateMemoryBufferWithContentsOfFile(const char *, LLVMMemoryBuffer **, char **);
void LLVMDisposeMemoryBuffer(LLVMMemoryBuffer *);
int LLVMParseBitcodeInContext2(LLVMContext *, LLVMMemoryBuffer *, LLVMModule **);
void LLVMDisposeModule(LLVMModule *);
LLVMValue *LLVMGetFirstFunction(LLVMModule *);
LLVMValue *LLVMGetNextFunction(LLVMValue *);
const char *LLVMGetValueName2(LLVMValue *, size_t *);
int LLVMIsDeclaration(LLVMValue *);
void LLVMSetLinkage(LLVMValue *, int);
void *LLVMCreatePassBuilderOptions(void);
void LLVMDisposePassBuilderOptions(void *);
void *LLVMRunPasses(LLVMModule *, const char *, void *, void *);
int LLVMWriteBitcodeToFile(LLVMModule *, const char *);

static char words[1 << 16];

static bool is_word(const char *name)
{
    size_t length = strlen(name);
    for (const char *at = words; (at = strstr(at, name)) != NULL; at++) {
        char before = at == words ? ' ' : at[-1], after = at[length];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) && after != '_') {
            return true;
        }
    }
    return false;
}

/* _Z11_cl_convertDv4_f: the number of letters, the name, its parameters. */
static bool is_needed(const char *function)
{
    if (strncmp(function, "_Z", 2) != 0) {
        return strncmp(function, "_pocl", 5) == 0 || strncmp(function, "__pocl", 6) == 0 ||
               strcmp(function, "printf") == 0;
    }
    char *start, name[256];
    int length = (int)strtol(function + 2, &start, 10);
    snprintf(name, sizeof name, "%.*s", length, start);
    const char *bare = strncmp(name, "_cl_", 4) == 0 ? name + 4 : name;
    bool of_vectors = strstr(function, "Dv") != NULL;
    return bare[0] != '\0' && is_word(bare) &&
           (!of_vectors || strcmp(bare, "fma") == 0 || isdigit((unsigned char)bare[strlen(bare) - 1]));
}

static int trim(LLVMModule *module, const char *to)
{
    for (LLVMValue *function = LLVMGetFirstFunction(module); function != NULL;
         function = LLVMGetNextFunction(function)) {
        size_t length;
        if (!LLVMIsDeclaration(function) && !is_needed(LLVMGetValueName2(function, &length))) {
            LLVMSetLinkage(function, LLVMInternalLinkage);
        }
    }
    void *options = LLVMCreatePassBuilderOptions();
    bool failed = LLVMRunPasses(module, "globaldce", NULL, options) != NULL || LLVMWriteBitcodeToFile(module, to) != 0;
    LLVMDisposePassBuilderOptions(options);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    FILE *builtins = argc == 4 ? fopen(argv[3], "r") : NULL;
    if (builtins == NULL || fread(words, 1, sizeof words - 1, builtins) == 0 || !feof(builtins) ||
        fclose(builtins) != 0) {
        fprintf(stderr, "usage: trim FROM.bc TO.bc builtins.cl\n");
        return EXIT_FAILURE;
    }
    LLVMContext *context = LLVMContextCreate();
    LLVMMemoryBuffer *file;
    LLVMModule *module;
    char *said;
    int code = EXIT_FAILURE;
    if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &file, &said) != 0) {
        fprintf(stderr, "trim: %s\n", said);
    } else if (LLVMParseBitcodeInContext2(context, file, &module) == 0) {
        code = trim(module, argv[2]);
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(context);
    return code;
}
