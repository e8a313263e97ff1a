/*
 * pocl_trim: PoCL's libraries of built-in functions, without those that pipec's kernels do not call.
 *
 *     pocl_trim OUT.c builtins.cl DRIVER LIBRARY.bc...
 *
 * Writes them as the table of runtime/device/cl_pocl.h.  Kernels call what builtins.cl declares: what has the name of a word
 * there stays, with what it calls.  Of vectors only functions whose name ends in their width, and fma.  PoCL itself wants
 * its work-groups and printf.  Functions are called as LLVM's C interface has them, whose headers need not be installed:
 * PoCL brings the library only.
 */
#include "../base/digest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

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
LLVMMemoryBuffer *LLVMWriteBitcodeToMemoryBuffer(LLVMModule *);
const char *LLVMGetBufferStart(LLVMMemoryBuffer *);
size_t LLVMGetBufferSize(LLVMMemoryBuffer *);
void LLVMDisposeMemoryBuffer(LLVMMemoryBuffer *);

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

/* NULL where LLVM cannot. */
static LLVMMemoryBuffer *trim(LLVMModule *module)
{
    for (LLVMValue *function = LLVMGetFirstFunction(module); function != NULL;
         function = LLVMGetNextFunction(function)) {
        size_t length;
        if (!LLVMIsDeclaration(function) && !is_needed(LLVMGetValueName2(function, &length))) {
            LLVMSetLinkage(function, LLVMInternalLinkage);
        }
    }
    void *options = LLVMCreatePassBuilderOptions();
    const bool failed = LLVMRunPasses(module, "globaldce", NULL, options) != NULL;
    LLVMDisposePassBuilderOptions(options);
    return failed ? NULL : LLVMWriteBitcodeToMemoryBuffer(module);
}

static LLVMMemoryBuffer *read_file(const char *path, char digest[DIGEST_TEXT])
{
    LLVMMemoryBuffer *file = NULL;
    char *said = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &file, &said) != 0) {
        fprintf(stderr, "pocl_trim: %s\n", said);
        return NULL;
    }
    Digest of;
    digest_begin(&of);
    digest_add(&of, LLVMGetBufferStart(file), LLVMGetBufferSize(file));
    digest_end(&of, digest);
    return file;
}

/* An array of the library's bytes; false: it cannot be made. */
static bool write_array(FILE *out, int number, LLVMMemoryBuffer *library)
{
    enum { STRONGEST = 19, A_LINE = 32 };
    const size_t size = LLVMGetBufferSize(library), most = ZSTD_compressBound(size);
    unsigned char *packed = malloc(most);
    const size_t n = packed ? ZSTD_compress(packed, most, LLVMGetBufferStart(library), size, STRONGEST) : 0;
    const bool ok = packed && !ZSTD_isError(n);
    fprintf(out, "static const unsigned char library%d[] = {", number);
    for (size_t i = 0; ok && i < n; i++) {
        fprintf(out, "%s%d,", i % A_LINE == 0 ? "\n" : "", packed[i]);
    }
    fprintf(out, "};\n");
    free(packed);
    return ok;
}

/* Appends to the table of rows. */
static bool write_library(FILE *out, int number, const char *path, char *rows, size_t size)
{
    char digest[DIGEST_TEXT];
    const char *slash = strrchr(path, '/');
    LLVMContext *context = LLVMContextCreate();
    LLVMModule *module = NULL;
    LLVMMemoryBuffer *file = read_file(path, digest); /* the module takes it over */
    const bool read = file && LLVMParseBitcodeInContext2(context, file, &module) == 0;
    LLVMMemoryBuffer *library = read ? trim(module) : NULL;
    const bool ok = library && write_array(out, number, library);
    const size_t used = strlen(rows);
    snprintf(rows + used, size - used, "    {\"%s\",\n     \"%s\",\n     library%d, sizeof library%d, %zu},\n",
             slash ? slash + 1 : path, digest, number, number, library ? LLVMGetBufferSize(library) : 0);
    if (library) {
        LLVMDisposeMemoryBuffer(library);
    }
    if (read) {
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(context);
    return ok;
}

static bool read_words(const char *path)
{
    FILE *builtins = fopen(path, "r");
    bool ok = builtins && fread(words, 1, sizeof words - 1, builtins) > 0 && feof(builtins);
    return builtins && fclose(builtins) == 0 && ok;
}

int main(int argc, char **argv)
{
    char rows[4096] = "";
    FILE *out = argc > 4 && read_words(argv[2]) ? fopen(argv[1], "w") : NULL;
    if (!out) {
        fprintf(stderr, "usage: pocl_trim OUT.c builtins.cl DRIVER LIBRARY.bc...\n");
        return EXIT_FAILURE;
    }
    bool ok = true;
    fprintf(out, "#include \"runtime/device/cl_pocl.h\"\n\n");
    for (int i = 4; i < argc; i++) {
        ok = ok && write_library(out, i, argv[i], rows, sizeof rows);
    }
    const char *slash = strrchr(argv[4], '/');
    fprintf(out, "const char POCL_DRIVER[] = \"%s\";\nconst char POCL_DATA[] = \"%.*s\";\n", argv[3],
            slash ? (int)(slash - argv[4]) : 0, argv[4]);
    fprintf(out, "const PoclLibrary POCL_LIBRARIES[] = {\n%s    {0}};\n", rows);
    return fclose(out) == 0 && ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
