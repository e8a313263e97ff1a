#!/bin/sh
# includes.sh ROOT: includes point only downward: a file may include files of its own folder and of those that the table
# gives to its folder.  Each row: a folder, then those below it.
cd "$1" || exit 2
table='
base
cmake base frontend/ops
program base
ir base
reference base ir
passes base ir
codegen base program ir
frontend/diag base
frontend/syntax base frontend/diag ir
frontend/ops base
frontend/elaborate base frontend/diag frontend/ops frontend/syntax ir
frontend/explain base frontend/diag frontend/ops frontend/syntax frontend/elaborate ir
runtime/host base
runtime/files base runtime/host
runtime/device base runtime/host
runtime/primitives base program runtime/host runtime/device
runtime/primitives/reduce base runtime/host runtime/primitives
runtime/primitives/label base runtime/host runtime/primitives
runtime/primitives/measure base runtime/host runtime/primitives
runtime/primitives/window base runtime/host runtime/primitives
runtime/primitives/distance base runtime/host runtime/primitives
runtime/primitives/flood base runtime/host runtime/primitives
runtime/primitives/fourier base runtime/primitives
runtime/primitives/near base runtime/host runtime/primitives
mpi base runtime/host
runtime/exec base program runtime/host runtime/files runtime/device runtime/primitives
runtime/command base program runtime/host runtime/files
runtime/report base runtime/host runtime/files
runtime/batch base program runtime/report runtime/host runtime/files runtime/device runtime/primitives runtime/exec runtime/command
runtime base program runtime/host runtime/device runtime/exec runtime/command runtime/batch
library base program ir passes codegen frontend/diag frontend/ops frontend/syntax frontend/elaborate runtime/host runtime/files runtime/device runtime/primitives runtime/exec runtime/command runtime/batch
lsp base ir library frontend/diag frontend/ops frontend/syntax frontend/elaborate
driver base program ir library lsp reference passes codegen frontend/diag frontend/ops frontend/syntax frontend/elaborate runtime runtime/host runtime/device runtime/primitives runtime/exec runtime/command runtime/batch
'
git ls-files '*.c' '*.h' '*.l' '*.y' '*.def' 2>/dev/null | grep -v -E '^(tests|bench|samples)/' |
xargs grep -H -E '^#include "' | awk -v table="$table" '
BEGIN {
    rows = split(table, row, "\n")
    for (i = 1; i <= rows; i++) {
        n = split(row[i], word, " ")
        known[word[1]] = n > 0
        for (k = 2; k <= n; k++) may[word[1], word[k]] = 1
    }
}
{
    file = $0; sub(/:.*/, "", file)
    folder = file; sub(/\/[^\/]*$/, "", folder)
    to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to)
    if (to !~ /\//) next
    path = folder "/" to; sub(/\/[^\/]*$/, "", path)
    while (path ~ /[^\/]+\/\.\./) sub(/[^\/]+\/\.\.(\/|$)/, "", path)
    sub(/\/$/, "", path)
    if (!(folder in known)) { print file ": the folder is not in the table of tests/includes.sh"; bad = 1 }
    else if (path != folder && !((folder, path) in may)) { print file ": " folder " must not include " to; bad = 1 }
}
END { exit bad }'
