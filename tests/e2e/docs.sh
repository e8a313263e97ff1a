# docs.sh: what is written is so.  Pages that are made from tables are up to date, every pipeline in
# the documentation compiles without a word, and every file that a page names exists.
. "$(dirname "$0")/lib.sh"

expect 0 '' "$PIPEC" ops --markdown
check cmp said.out "$ROOT/docs/operators.md"
expect 0 '' "$PIPEC" ops --migration "$ROOT/docs/clesperanto-names.txt"
check cmp said.out "$ROOT/docs/migration.md"

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

# [words](place) in a page.
for page in "$ROOT"/README.md "$ROOT"/docs/*.md; do
    for place in $(grep -o '](\([^)#:]*\))' "$page" | tr -d '])('); do
        check test -e "$(dirname "$page")/$place"
    done
done

finish
