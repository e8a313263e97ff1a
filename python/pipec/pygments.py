"""The language for Pygments, so in notebooks, Sphinx and MkDocs: ```pipe."""

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from . import _words

_NUMBER = r"(0[xX][0-9a-fA-F]+|([0-9]+(\.(?!\.)[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?)"


class PipeLexer(RegexLexer):
    name = "Pipe"
    aliases = ["pipe"]
    filenames = ["*.pipe"]

    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"#.*", Comment.Single),
            (r'"(\\.|[^"\\\n])*"?', String.Double),
            (words(_words.STATEMENT, prefix=r"\b", suffix=r"\b"), Keyword.Declaration),
            (words(_words.CONTROL, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(_words.LOGIC, prefix=r"\b", suffix=r"\b"), Operator.Word),
            (words(_words.CONSTANT, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (rf"{_NUMBER}(?: ?(?:{'|'.join(_words.UNIT)})\b)?", Number),
            (r"(?<=\w)\." + f"({'|'.join(_words.PROPERTY)})" + r"\b", Name.Attribute),
            (words(_words.OPERATOR, prefix=r"\b", suffix=r"(?=\s*\()"), Name.Builtin),
            (r"[A-Za-z_]\w*", Name),
            (r"\*\*|//|\.\.|[<>=!]=|[-+*/%<>=]", Operator),
            (r"[()\[\]{},:.]", Punctuation),
        ]
    }
