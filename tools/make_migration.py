#!/usr/bin/env python3
"""Makes docs/migration.md: every operation of clEsperanto, and what to write here.

    tools/make_migration.py > docs/migration.md

Names come from docs/clesperanto-names.txt.  What to write comes from frontend/peers.def where it has
the name, otherwise from frontend/ops.def: an operator with that name of its own, or that says
clEsperanto calls it so.  A name that neither knows is listed as unknown here and ends with 1,
so that the tables stay complete.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRING = r'"(?:[^"\\]|\\.)*"'
LETTERS = {"i": "image", "v": "volume", "m": "mask", "l": "labels", "n": "n"}


def strip_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def joined(strings):
    """The value of C string literals that stand side by side."""
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings)).replace('\\"', '"')


def peers():
    """name -> (argument letters, what to write), of clEsperanto."""
    text = strip_comments((ROOT / "frontend/peers.def").read_text(encoding="utf-8"))
    found = {}
    row = rf'PEER\(({STRING}),\s*(\w+|{STRING}),\s*({STRING}),\s*((?:{STRING}\s*)+)\)'
    for name, package, letters, here in re.findall(row, text):
        if package == "CLE" or "clEsperanto" in package:
            found[joined(name)] = (joined(letters), joined(here))
    for name in re.findall(rf'NONE\(({STRING})\)', text):
        found[joined(name)] = ("", "")
    return found


def operators():
    """(name -> one line), (clEsperanto's name -> name here)."""
    text = strip_comments((ROOT / "frontend/ops.def").read_text(encoding="utf-8"))
    lines, called = {}, {}
    string = rf'((?:{STRING}\s*)+)'
    row = r'OP\(' + string + ',' + r'\s*' + string + r',\s*\w+,\s*' + r',\s*'.join([string] * 6) + r'\)'
    for fields in re.findall(row, text):
        name, line, peer = joined(fields[0]), joined(fields[2]), joined(fields[5])
        lines[name] = line
        if peer:
            called[peer] = name
    return lines, called


def spelled(letters, here):
    """`here` with $1 $2 ... replaced by speaking names."""
    names = []
    for letter in letters:
        name = LETTERS[letter]
        n = names.count(name) + sum(1 for x in names if re.fullmatch(rf"{name}\d", x))
        names.append(f"{name}{n + 1}" if letters.count(letter) > 1 else name)
    for i, name in reversed(list(enumerate(names, 1))):
        here = here.replace(f"${i}", name)
    return here


def main():
    names = (ROOT / "docs/clesperanto-names.txt").read_text(encoding="utf-8").split()
    table = peers()
    lines, called = operators()
    rows, missing, unknown = [], [], []
    for name in sorted(set(names), key=str.lower):
        if name in table and table[name][1] == "":
            missing.append(name)
        elif name in table:
            rows.append((name, spelled(*table[name])))
        elif name in lines:
            rows.append((name, f"{name}(...)"))
        elif name in called:
            rows.append((name, f"{called[name]}(...)"))
        else:
            unknown.append(name)
    total = len(rows) + len(missing) + len(unknown)
    print("# From clEsperanto\n")
    print("Made by `tools/make_migration.py` from `docs/clesperanto-names.txt`, `frontend/peers.def` and "
          "`frontend/ops.def`; do not edit.\n")
    print(f"clEsperanto has {total} operations by name. {len(rows)} can be written here, {len(missing)} have "
          f"no counterpart{f', {len(unknown)} are not looked into yet' if unknown else ''}. In the table "
          "`image`, `volume`, `mask`, `labels` and `n` (numbers) stand for the arguments; where there are several "
          "of a kind they are numbered. `name(...)` is the operator of [operators.md](operators.md), which "
          "says where its meaning differs. The compiler gives the same hints: writing a name of the left "
          "column in a pipeline is an error whose help line says what to write.\n")
    print("| clEsperanto | here |\n|---|---|")
    for name, here in rows:
        print(f"| `{name}` | `{here}` |")
    print("\n## Without a counterpart\n")
    print(", ".join(f"`{name}`" for name in missing) + ".")
    if unknown:
        print("\n## Not looked into yet\n")
        print(", ".join(f"`{name}`" for name in unknown) + ".")
        print(f"in neither table: {' '.join(unknown)}", file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
