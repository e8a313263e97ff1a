/* import: a macro of ImageJ or a script in Python as a pipeline.  The Python package does it, whose parser of Python is
 * Python's own. */
#include "driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing of the current folder, which may be anybody's, is run. */
static const char IMPORT[] =
    "import sys; sys.path[:] = [p for p in sys.path if p]; from pipec.importer import main; main()";

int cmd_import(int argc, char **argv)
{
    if (argc != 2) {
        return usage_error("import takes one file, macro.ijm or script.py, and prints a pipeline");
    }
    const char *python = getenv("PIPEC_PYTHON");
    char *const command[] = {(char *)(python != NULL ? python : "python3"), "-c", (char *)IMPORT, argv[1], NULL};
    if (driver_python(true)) {
        execvp(command[0], command);
    }
    return usage_error("import needs python3: %s", strerror(errno));
}
