/* import: a macro of ImageJ or a script in Python as a pipeline.  The Python package does it, whose parser of Python is
 * Python's own. */
#include "driver.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int cmd_import(int argc, char **argv)
{
    if (argc != 2) {
        return usage_error("import takes one file, macro.ijm or script.py, and prints a pipeline");
    }
    bool ok = driver_python(true);
    char *const command[] = {"python3", "-m", "pipec.importer", argv[1], NULL};
    if (ok) {
        execvp(command[0], command);
    }
    return usage_error("import needs python3: %s", strerror(errno));
}
