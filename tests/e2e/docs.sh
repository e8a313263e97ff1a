# docs.sh: what is written is so.  Pages that are made from tables are up to date, every pipeline in
# the documentation compiles without a word, and every file that a page names exists.
. "$(dirname "$0")/lib.sh"

expect 0 '' "$PIPEC" ops --markdown
check cmp said.out "$ROOT/docs/operators.md"
expect 0 '' "$PIPEC" ops --migration "$ROOT/docs/clesperanto-names.txt"
check cmp said.out "$ROOT/docs/migration.md"

# So many operators, so many of them in the language.
expect 0 '' "$PIPEC" ops
all=$(wc -l <said.out)
built_in=$(awk '{ print $1 }' said.out | xargs -n 1 "$PIPEC" ops --source | grep -c 'is built in')
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

# [words](place) in a page.
for page in "$ROOT"/README.md "$ROOT"/docs/*.md; do
    for place in $(grep -o '](\([^)#:]*\))' "$page" | tr -d '])('); do
        check test -e "$(dirname "$page")/$place"
    done
done

# The session in README.md, command by command, in its order: what is shown is said.  A line of ... stands for any
# lines; where times are told, any number is as good as another.
ln -s "$SAMPLES" samples
ln -s "$PIPEC" pipec
mkdir plate
for number in 1 2 3 4; do
    cp "$SAMPLES/blobs.tif" "plate/A0$number.tif"
done
awk '/^Write `first.pipe`/ { getline; inside = 1; next } inside && /^[^ ]/ { exit } inside { print substr($0, 5) }' \
    "$ROOT/README.md" >first.pipe
awk '/^    \$ / { n++; printf "%s\n", substr($0, 7) >(n ".command"); printf "" >(n ".shown"); inside = 1; next }
    !/^    / { inside = 0 }
    inside { print substr($0, 5) >(n ".shown") }' "$ROOT/README.md"

# shown N: everything of N.shown is in N.said, in that order.
shown() {
    tell='s/  */ /g'
    if grep -qE ' s$|time ms|%' "$1.shown"; then
        tell='s/[0-9][0-9.]*/N/g; s/  */ /g'
    fi
    sed "$tell" "$1.said" | tr -s '\n ' ' ' >"$1.all"
    sed "$tell" "$1.shown" | awk -v file="$1.all" '
        BEGIN { getline all <file }
        function look() {
            at = index(all, part)
            missing = missing || at == 0
            all = substr(all, at + length(part))
            part = ""
        }
        /^ *\.\.\.$/ { look(); next }
        { sub(/^ /, ""); part = part (part == "" ? "" : " ") $0 }
        END { look(); exit missing }'
}

number=1
while [ -e "$number.command" ]; do
    PATH="$PWD:$PATH" sh "./$number.command" >"$number.said" 2>&1 </dev/null
    check shown "$number"
    [ "$number" -gt 1 ] || sed -i 's/threshold_otsu/otsu/' first.pipe
    number=$((number + 1))
done
check test "$number" -gt 10

finish
