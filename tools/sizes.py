#!/usr/bin/env python3
"""How large the folders, files and functions are: a table in Markdown.

  tools/sizes.py [FOLDER]...   without folders: those of the compiler and the runtime

Lines of code are those that are neither empty nor only a comment.  A function is what stands between a `{` and a `}` at
the beginning of lines, as clang-format puts them; its length counts both.
"""
import pathlib
import re
import sys

FOLDERS = "base program frontend ir reference passes codegen runtime library driver".split()
ENDINGS = {".c", ".h", ".l", ".y", ".cl", ".def", ".pipe"}
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|(/\*.*?\*/|//[^\n]*)', re.S)


def looked_at(folder):
    """Lines of code, lines of comments, assertions, lengths of functions."""
    code = comments = asserts = 0
    lengths = []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.suffix not in ENDINGS or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        bare = COMMENT.sub(lambda m: re.sub(r"[^\n]", "", m[0]) if m[1] else m[0], text)
        own = sum(1 for line in bare.splitlines() if line.strip())
        code += own
        comments += sum(1 for line in text.splitlines() if line.strip()) - own
        asserts += len(re.findall(r"\bassert\(", bare))
        begin = None
        for number, line in enumerate(bare.splitlines()):
            if line == "{":
                begin = number
            elif line == "}" and begin is not None:
                lengths.append(number - begin + 1)
                begin = None
    return code, comments, asserts, sorted(lengths)


def row(name, code, comments, asserts, lengths):
    at = [lengths[min(len(lengths) - 1, len(lengths) * p // 100)] if lengths else 0 for p in (50, 90, 99, 100)]
    share = 100 * comments / max(1, code + comments)
    print(f"| {name} | {code} | {share:.0f} % | {' / '.join(map(str, at))} | {1000 * asserts / max(1, code):.1f} |")


def main():
    print("| | lines of code | comments | functions p50 / p90 / p99 / max | assertions in 1000 lines |")
    print("|---|---|---|---|---|")
    total = [0, 0, 0, []]
    for folder in sys.argv[1:] or FOLDERS:
        found = looked_at(folder)
        row(f"`{folder}/`", *found)
        total = [a + b for a, b in zip(total, found)]
    row("all", *total[:3], sorted(total[3]))


main()
