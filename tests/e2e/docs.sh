# docs.sh: what is written is so.  Pages that are made from tables are up to date, every pipeline in
# the documentation compiles without a word, and every file that a page names exists.
. "$(dirname "$0")/lib.sh"

expect 0 '' "$PIPEC" ops --markdown
check cmp said.out "$ROOT/docs/operators.md"
expect 0 '' "$PIPEC" ops --migration "$ROOT/docs/clesperanto-names.txt"
check cmp said.out "$ROOT/docs/migration.md"

# So many operators, so many of them in the language.
expect 0 '' "$PIPEC" ops
sed -n 's/^  \([a-z0-9_]*\) .*/\1/p' said.out >names
all=$(wc -l <names)
built_in=$(xargs -n 1 "$PIPEC" ops --source <names | grep -c 'is built in')
check grep -q "^| Operators | $all: .*; $((all - built_in)) of them written in the language" "$ROOT/README.md"

# Blocks that begin with ```pipe, each in a file NAME-LINE.pipe.
for page in "$ROOT"/README.md "$ROOT"/docs/*.md "$ROOT"/samples/library/README.md; do
    awk -v name="$(basename "$page" .md)" '
        /^```pipe$/ { file = name "-" NR ".pipe"; inside = 1; printf "" >file; next }
        /^```$/ { inside = 0 }
        inside { print >file }' "$page"
done
check test "$(ls ./*.pipe | wc -l)" -ge 20
for file in ./*.pipe; do
    expect 0 '' "$PIPEC" check "$file"
    check test ! -s said.err
done

expect 0 '' "$PIPEC" check "$ROOT/docs/pictures/cells.pipe"
check test ! -s said.err

# [words](place) in a page, and [words](place#heading).
headings() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g'
}
has_heading() {
    headings "$1" | grep -qx -- "$2"
}
for page in "$ROOT"/*.md "$ROOT"/docs/*.md "$ROOT"/docs/pictures/README.md "$ROOT"/bench/*.md "$ROOT"/tests/README.md; do
    for place in $(grep -o '](\([^):]*\))' "$page" | tr -d '])('); do
        file=$(dirname "$page")/${place%%#*}
        check test -e "$file"
        case $place in
        '#'*) check has_heading "$page" "${place#*#}" ;;
        *'#'*) check has_heading "$file" "${place#*#}" ;;
        esac
    done
done

# The example of README.md is the sample.
sed '/^#/d; s/  *#.*//' "$SAMPLES/blobs.pipe" | sed '1{/^$/d}' >blobs.plain
check cmp README-*.pipe blobs.plain

# The sessions in README.md and docs/running.md, one after the other, command by command: what is shown is said.  A line of
# ... stands for any lines; where times or sizes of memory are told, any number is as good as another.
ln -s "$SAMPLES" samples
ln -s "$PIPEC" pipec
cat "$ROOT/README.md" "$ROOT/docs/running.md" |
    awk '/^    \$ / { n++; printf "%s\n", substr($0, 7) >(n ".command"); printf "" >(n ".shown"); inside = 1; next }
        !/^    / { inside = 0 }
        inside { print substr($0, 5) >(n ".shown") }'

# shown N: N.said is N.shown.
shown() {
    tell='/^\[SubCFG\]/d; s/  */ /g' # PoCL 6 says that while it compiles
    if grep -qE ' s$|time ms|%|MiB' "$1.shown"; then
        tell="$tell; s/[0-9][0-9.]*/N/g"
    fi
    sed "$tell" "$1.said" | tr -s '\n ' ' ' >"$1.all"
    sed "$tell" "$1.shown" | awk -v file="$1.all" '
        BEGIN { getline all <file; sub(/ $/, "", all) }
        # A line of ...: what is shown before it comes next, or anywhere behind an earlier one.
        /^ *\.\.\.$/ {
            at = part == "" ? 1 : index(all, part)
            missing = missing || at == 0 || (at > 1 && !open)
            all = substr(all, at + length(part))
            part = ""
            open = 1
            next
        }
        { sub(/^ /, ""); sub(/ $/, ""); part = part (part == "" ? "" : " ") $0 }
        # What is shown at last is the end.
        END {
            end = substr(all, length(all) - length(part) + 1)
            exit missing || (open ? part != "" && end != part : all != part)
        }'
}

number=1
while [ -e "$number.command" ]; do
    PATH="$PWD:$PATH" sh "./$number.command" >"$number.said" 2>&1 </dev/null
    check shown "$number"
    number=$((number + 1))
done
check test "$number" -gt 20

finish
