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
ln -s "$SAMPLES" samples
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

# Pages for someone in a hurry: the README has at most 150 lines, and no sentence there or in a recipe more than 30 words.
# Items of lists and cells of tables are sentences; code is a word.
longest_sentence() {
    sed -E '/^```/,/^```$/d; /^    /d; s/!?\[([^]]*)\]\([^)]*\)/\1/g; s/`[^`]*`/Code/g; s/^[*#|]|^ *- /. /; s/[|·]/ . /g; s/^$/ . /' "$1" |
        tr '\n' ' ' | sed 's/[.!?]["*)]* /\n/g' | awk '{ if (NF > n) { n = NF; longest = $0 } } END { print n; print longest }'
}
check test "$(wc -l <"$ROOT/README.md")" -le 150
for page in README.md docs/cookbook.md; do
    longest_sentence "$ROOT/$page" >longest
    check test "$(head -1 longest)" -le 30 || cat longest
done

# The example of README.md is the sample.
sed '/^#/d; s/  *#.*//' "$SAMPLES/blobs.pipe" | sed '1{/^$/d}' >blobs.plain
check cmp README-*.pipe blobs.plain

ln -s "$PIPEC" pipec
sessions "$ROOT/README.md" "$ROOT/docs/running.md"
check test "$number" -gt 20

finish
