#!/bin/sh
# run.sh: runs all fuzz targets at the same time; lies in the folder that pack.sh makes.
#
#   usage: run.sh SECONDS PROCESSES [FOLDER [TARGET...]]
#
# So many processes for each target, which share what they find; one that has met a crash begins again.  In FOLDER, found/ beside this
# file if not said, are the inputs that crash (crashes/), new inputs, from which the next run goes on (inputs/), and logs.  Prints for
# each target how many inputs it tried, how many in a second of a process and of its own time on a CPU, how many crash, and what
# sanitizers say.
# The exit code is 1 when an input crashes, or a target tries none.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '4s/^# *//p' "$0"; exit 2; }
seconds=$1 processes=$2
mkdir -p "${3:-$here/found}"
found=$(cd "${3:-$here/found}" && pwd)
if [ $# -gt 3 ]; then shift 3; targets=$*; else targets=$(ls "$here/bin"); fi
mkdir -p "$found/crashes" "$found/logs" "$found/kernels"
rm -f "$found"/logs/*
export LD_LIBRARY_PATH="$here/lib" POCL_CACHE_DIR="$found/kernels" LC_ALL=C
export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0"

# fuzz TARGET NUMBER: one process, until the time is over.  Drivers keep what they have until the end, and some want the addresses that
# the sanitizer keeps free.
fuzz() {
  options='-max_len=4096' leaks=1
  case $1 in
  compare) options="$options -dict=$here/words.dict" leaks=0 ;;
  pipeline) options="$options -dict=$here/words.dict -entropic=0" ;; # its many features take longer to count than to reach
  graph | options) options="$options -dict=$here/words.dict" ;;
  image) options='-max_len=20480' ;;
  esac
  end=$(($(date +%s) + seconds)) left=$seconds
  while [ "$left" -gt 0 ] && [ "$(ls "$found/crashes" | grep -c "^$1-")" -lt 100 ]; do
    # shellcheck disable=SC2086
    ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=$leaks:protect_shadow_gap=0" "$here/bin/$1" $options \
      -max_total_time="$left" -timeout=60 -report_slow_units=60 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$found/crashes/$1-" \
      "$found/inputs/$1" "$here/seeds/$1" >>"$found/logs/$1.$2" 2>&1
    left=$((end - $(date +%s)))
  done
  times >"$found/logs/$1.$2.times"
}

for target in $targets; do
  mkdir -p "$found/inputs/$target"
  number=0
  while [ "$number" -lt "$processes" ]; do
    fuzz "$target" "$number" &
    number=$((number + 1))
  done
done
wait

wrong=0
# cpu_seconds TARGET: of all its processes, which `times` of those that have waited for them knows ("1m2.50s 0m0.30s").
cpu_seconds() {
  cat "$found/logs/$1".*.times | awk 'FNR % 2 == 0 { for (i = 1; i <= 2; i++) { split($i, t, "m"); n += 60 * t[1] + t[2] } }
    END { printf "%.0f", n + 0.5 }'
}

printf '%-10s %12s %10s %8s %12s %8s\n' target inputs 'a second' 'CPU s' 'a CPU second' crashes
for target in $targets; do
  crashes=$(ls "$found/crashes" | grep -c "^$target-")
  tried=$(cat "$found/logs/$target".*[0-9] | awk '/^stat::number_of_executed_units/ { n += $2 } END { printf "%.0f", n }')
  cpu=$(cpu_seconds "$target")
  printf '%-10s %12s %10s %8s %12s %8s\n' "$target" "$tried" "$((tried / seconds / processes))" "$cpu" \
    "$((tried / (cpu > 0 ? cpu : 1)))" "$crashes"
  [ "$crashes" -eq 0 ] && [ "$tried" -gt 0 ] || wrong=1
done
cat "$found"/logs/*[0-9] | sed -n 's/^SUMMARY: //p' | sort | uniq -c | sort -rn
exit $wrong
