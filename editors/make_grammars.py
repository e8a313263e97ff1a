#!/usr/bin/env python3
"""Writes the grammars by which editors colour .pipe files, from the words that pipec knows.

    build/pipec ops --words | editors/make_grammars.py            # writes them
    build/pipec ops --words | editors/make_grammars.py --check    # says which are not up to date; a test runs it

vscode/syntaxes/pipe.tmLanguage.json is for VS Code and all that reads TextMate grammars, vim/syntax/pipe.vim for Vim
and Neovim, python/pipec/_words.py for Pygments (notebooks, Sphinx, MkDocs).
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
STATEMENTS = {"input", "param", "output", "fn"}
CONSTANTS = {"true", "false"}
LOGIC = {"and", "or", "not", "xor"}
NUMBER = r"(?:0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"


def read_words():
    """{"keyword": [...], "unit": [...], "operator": [...], "property": [...]}, each sorted."""
    words = {}
    for line in sys.stdin:
        kind, word = line.split()
        words.setdefault(kind, []).append(word)
    return {kind: sorted(of) for kind, of in words.items()}


def classes(words):
    """The words by what they are to a reader."""
    rest = set(words["keyword"]) - STATEMENTS - CONSTANTS - LOGIC
    return {
        "statement": sorted(STATEMENTS),
        "control": sorted(rest),
        "logic": sorted(LOGIC),
        "constant": sorted(CONSTANTS),
        "unit": sorted(words["unit"], key=lambda unit: (-len(unit), unit)),
        "operator": words["operator"],
        "property": words["property"],
    }


def textmate(c):
    def any_of(kind, before=r"\b", after=r"\b"):
        return f"{before}(?:{'|'.join(c[kind])}){after}"

    patterns = [
        {"name": "comment.line.number-sign.pipe", "match": r"#.*$"},
        {
            "name": "string.quoted.double.pipe",
            "begin": '"',
            "end": '"|$',
            "patterns": [{"name": "constant.character.escape.pipe", "match": r"\\."}],
        },
        {
            "match": r"\b(fn)\s+([A-Za-z_]\w*)",
            "captures": {"1": {"name": "storage.type.pipe"}, "2": {"name": "entity.name.function.pipe"}},
        },
        {"name": "storage.type.pipe", "match": any_of("statement")},
        {"name": "keyword.control.pipe", "match": any_of("control")},
        {"name": "keyword.operator.word.pipe", "match": any_of("logic")},
        {"name": "constant.language.pipe", "match": any_of("constant")},
        {
            "match": rf"(?<![\w.])({NUMBER})(?: ?({'|'.join(c['unit'])}))?\b",
            "captures": {"1": {"name": "constant.numeric.pipe"}, "2": {"name": "keyword.other.unit.pipe"}},
        },
        {"name": "variable.other.property.pipe", "match": r"(?<=\w\.)" + any_of("property", "")},
        {"name": "support.function.pipe", "match": any_of("operator", after=r"(?=\s*\()")},
        {"name": "variable.parameter.pipe", "match": r"\b[A-Za-z_]\w*(?=\s*=(?!=))"},
        {"name": "keyword.operator.pipe", "match": r"\*\*|//|\.\.|[<>=!]=|[-+*/%<>=]"},
    ]
    return json.dumps({"name": "Pipe", "scopeName": "source.pipe", "fileTypes": ["pipe"], "patterns": patterns},
                      indent=1) + "\n"


def vim(c):
    lines = ['" Vim syntax of .pipe files; editors/make_grammars.py writes it.', "if exists('b:current_syntax')", "  finish",
             "endif"]
    for kind in ("statement", "control", "logic", "constant", "operator"):
        words = c[kind]
        for i in range(0, len(words), 8):
            lines.append(f"syn keyword pipe{kind.title()} {' '.join(words[i:i + 8])}")
    lines += [
        r"syn match pipeNumber /\v<(0[xX]\x+|\d+(\.\.@!\d*)?([eE][+-]?\d+)?)( ?(%s)>)?/" % "|".join(c["unit"]),
        r"syn match pipeProperty /\v\w@<=\.(%s)>/hs=s+1" % "|".join(c["property"]),
        r'syn region pipeString start=/"/ skip=/\\./ end=/"/ oneline',
        r"syn match pipeComment /#.*/ contains=@Spell",
        "hi def link pipeStatement Statement", "hi def link pipeControl Conditional", "hi def link pipeLogic Operator",
        "hi def link pipeConstant Boolean", "hi def link pipeOperator Function", "hi def link pipeNumber Number",
        "hi def link pipeProperty Identifier", "hi def link pipeString String", "hi def link pipeComment Comment",
        "let b:current_syntax = 'pipe'",
    ]
    return "\n".join(lines) + "\n"


def python(c):
    lines = ['"""The words of the language; editors/make_grammars.py writes this file."""', ""]
    for kind, words in c.items():
        lines.append(f"{kind.upper()} = (")
        for i in range(0, len(words), 5):
            lines.append("    " + " ".join(f'"{word}",' for word in words[i:i + 5]))
        lines.append(")")
    return "\n".join(lines) + "\n"


def main():
    c = classes(read_words())
    stale = []
    for path, text in (
        (HERE / "vscode/syntaxes/pipe.tmLanguage.json", textmate(c)),
        (HERE / "vim/syntax/pipe.vim", vim(c)),
        (HERE.parent / "python/pipec/_words.py", python(c)),
    ):
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(str(path))
    if stale:
        sys.exit(f"not up to date: {', '.join(stale)}; run: build/pipec ops --words | editors/make_grammars.py")


main()
