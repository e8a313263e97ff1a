#!/bin/sh
# exports.sh LIBRARY HEADER: the library exports the functions that its header declares, and nothing else.
declared=$(grep -oE '^PIPEC_API .*' "$2" | grep -oE 'pipec_[a-z_]+\(' | tr -d '(' | sort)
exported=$(nm -D --defined-only "$1" | awk '{print $3}' | grep -v -E '^(__|_init|_fini|_edata|_end)' | sort)
[ -n "$declared" ] && [ "$declared" = "$exported" ] || { printf 'declared:\n%s\nexported:\n%s\n' "$declared" "$exported"; exit 1; }
