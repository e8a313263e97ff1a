"""Turns the common part of CLIJ macros and of clEsperanto, scikit-image and scipy scripts into a pipeline.

    python3 -m pipec.importer macro.ijm > macro.pipe
    python3 -m pipec.importer script.py > script.pipe

A draft keeps the calls as the script has them.  The compiler says what each is called here, and its words are put in their
place, until nothing more is said.  A line that a person must decide stays as a comment that begins with `# decide`.
"""

import ast
import os
import re
import sys

from . import _words
from ._errors import CompileError, PipecError
from ._pipeline import compile as compile_pipeline

_MANY = 500  # turns of putting the compiler's words in place
_TAKEN = {*_words.STATEMENT, *_words.CONTROL, *_words.LOGIC, *_words.CONSTANT}


class Draft:
    """A pipeline as it grows: inputs and params by name, statements, and names that become outputs."""

    def __init__(self):
        self.inputs, self.params, self.lines, self.outputs, self.known = [], {}, [], [], {}
        self.axes, self.used = "[y, x]", set()

    def name(self, name):
        """What a variable of the script is called: a new name for each value that it has."""
        return self.known.get(name, name)

    def add_input(self, name):
        own = ("image" if "image" not in self.inputs else name + "_") if name in _TAKEN else name
        if own not in self.inputs:
            self.inputs.append(own)
        self.known[name] = own
        self.used.add(own)

    def add(self, name, value):
        if re.fullmatch(r"[A-Za-z_]\w*", value) and value in self.known.values():
            self.known[name] = value  # another name for the same
            return
        name, old = name + "_" if name in _TAKEN else name, name
        times, new = 2, name
        while new in self.used or new in self.params:
            new, times = f"{name}{times}", times + 1
        self.lines.append(f"{new} = {value}")
        self.known[old] = new
        self.used.add(new)

    def add_output(self, name):
        name = self.name(name)
        if name not in self.outputs:
            self.outputs.append(name)

    def decide(self, text):
        self.lines += [f"# decide: {line}" for line in text.splitlines() if line.strip()]

    def text(self, origin):
        head = [f"# from {origin}", ""] + [f"input {name}{self.axes}" for name in self.inputs or ["image"]]
        head += [f"param {name} = {value}" for name, value in self.params.items()]
        outputs = self.outputs or list(self.known.values())[-1:]
        return "\n".join([*head, "", *self.lines, "", *(f"output {name}" for name in outputs)]) + "\n"


# ---- macros of ImageJ --------------------------------------------------------------------------

_CALL = re.compile(r"Ext\.CLIJx?2?_(\w+)\((.*)\)$")
_SET = re.compile(r"(?:var\s+)?([A-Za-z_]\w*)\s*=\s*(.+)$")
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][+-]?\d+)?$")
_ASIDE = re.compile(r"(run|open|close|print|setBatchMode|selectWindow|getDimensions|rename|exit|newImage)\s*\(|Ext\.CLIJx?2?_(clear|release|reportMemory|startTimeTracing|stopTimeTracing)")
_TWO = re.compile(r"Images$|^(binary(And|Or|XOr|Subtract)|mask|maskLabel|equal|greater|smaller|notEqual|absoluteDifference|generateParametric\w*|"
                  r"labelOverlap\w*|excludeLabelsWithValues\w+)$")


def _snake(name):
    """gaussianBlur2D, mean3DSphere -> gaussian_blur, mean_sphere."""
    name = re.sub(r"[23]D(?![a-z])", "", name)
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _macro_call(draft, name, arguments):
    arguments = [one.strip() for one in arguments.split(",")] if arguments.strip() else []
    if name in ("push", "pushCurrentZStack", "pushCurrentSlice"):
        draft.add_input(arguments[0])
    elif name.startswith("pull"):
        draft.add_output(arguments[0])
    elif name.startswith("statisticsOf"):  # into ImageJ's table
        draft.add("table", f"{_snake(name)}({', '.join(map(draft.name, arguments))})")
        draft.add_output("table")
    else:
        sources = 2 if _TWO.search(name) else 1
        rest = arguments[:sources] + arguments[sources + 1:]
        rest = [draft.name(one) for one in rest]
        draft.add(arguments[sources], f"{_snake(name)}({', '.join(rest)})")


def from_macro(text):
    """A draft of an ImageJ macro that uses CLIJ or CLIJ2."""
    draft = Draft()
    if re.search(r"Ext\.\w*3D", text) and not re.search(r"Ext\.\w*2D", text):
        draft.axes = "[z, y, x]"
    for line in re.sub(r"/\*.*?\*/", "", text, flags=re.S).splitlines():
        line = re.sub(r"//.*", "", line).strip().rstrip(";").strip()
        call, given = _CALL.match(line), _SET.match(line)
        try:
            if not line or _ASIDE.match(line):
                continue
            if call:
                _macro_call(draft, *call.groups())
            elif given and _NUMBER.match(given[2]):
                draft.params[given[1]] = given[2]
            elif given and ("getTitle" in given[2] or given[2].startswith('"')):
                continue  # names of windows
            else:
                draft.decide(line)
        except IndexError:
            draft.decide(line)
    return draft


# ---- Python ------------------------------------------------------------------------------------

_READS = {"imread", "imread_collection", "push", "open_image", "get_image"}
_WRITES = {"imsave", "imwrite", "imshow", "pull"}
_SAME = {"asarray", "array", "push", "pull", "copy", "ascontiguousarray", "img_as_float", "asnumpy"}
_TYPES = {"float": "f32", "float32": "f32", "float64": "f64", "int": "i32", "uint8": "u8", "uint16": "u16", "int16": "i16",
          "int32": "i32", "bool": "bool"}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**", ast.FloorDiv: "//",
              ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=",
              ast.Eq: "==", ast.NotEq: "!=", ast.And: "and", ast.Or: "or"}
_PROPERTIES = {"mean_intensity": "mean", "max_intensity": "max", "min_intensity": "min", "intensity_mean": "mean",
               "intensity_max": "max", "intensity_min": "min", "intensity_std": "std", "equivalent_diameter": "equivalent_diameter_area"}


class NoWay(Exception):
    """What is not translated."""


class _Python:
    def __init__(self):
        self.draft, self.modules = Draft(), set()

    # ---- expressions ----

    def expression(self, e):
        kind = type(e)
        if kind is ast.Constant and isinstance(e.value, (int, float)):
            return str(e.value).lower() if isinstance(e.value, bool) else repr(e.value)
        if kind is ast.Constant and isinstance(e.value, str):
            return e.value  # a choice
        if kind is ast.Name:
            return self.draft.name(e.id)
        if kind is ast.BinOp and type(e.op) in _OPERATORS:
            return f"{self.part(e.left)} {_OPERATORS[type(e.op)]} {self.part(e.right)}"
        if kind is ast.BoolOp:
            return f" {_OPERATORS[type(e.op)]} ".join(self.part(one) for one in e.values)
        if kind is ast.Compare and len(e.ops) == 1 and type(e.ops[0]) in _OPERATORS:
            return f"{self.part(e.left)} {_OPERATORS[type(e.ops[0])]} {self.part(e.comparators[0])}"
        if kind is ast.UnaryOp:
            sign = {ast.USub: "-", ast.Invert: "not ", ast.Not: "not ", ast.UAdd: ""}[type(e.op)]
            return sign + self.part(e.operand)
        if kind in (ast.Tuple, ast.List):
            return f"[{', '.join(map(self.expression, e.elts))}]"
        if kind is ast.Call:
            return self.call(e)
        raise NoWay

    def part(self, e):
        text = self.expression(e)
        return f"({text})" if isinstance(e, (ast.BinOp, ast.Compare, ast.BoolOp)) else text

    def of_module(self, e):
        while isinstance(e, ast.Attribute):
            e = e.value
        return isinstance(e, ast.Name) and e.id in self.modules

    def call(self, e):
        method = isinstance(e.func, ast.Attribute) and not self.of_module(e.func)
        name = e.func.attr if isinstance(e.func, ast.Attribute) else e.func.id if isinstance(e.func, ast.Name) else None
        if name is None:
            raise NoWay
        arguments = [e.func.value, *e.args] if method else list(e.args)
        if name == "astype" and len(arguments) == 2:
            kind = arguments[1].attr if isinstance(arguments[1], ast.Attribute) else getattr(arguments[1], "id", getattr(arguments[1], "value", ""))
            if _TYPES.get(kind) is None:
                raise NoWay
            return self.expression(arguments[0]) if kind == "bool" else f"{_TYPES[kind]}({self.expression(arguments[0])})"
        if name in _SAME and len(arguments) == 1:
            return self.expression(arguments[0])
        if name in ("regionprops_table", "regionprops"):
            return self.measures(e)
        words = [self.expression(one) for one in arguments]
        words += [f"{one.arg} = {self.expression(one.value)}" for one in e.keywords if one.arg not in (None, "out", "output", "preserve_range")]
        threshold = re.match(r"threshold_(otsu|yen|li|isodata|triangle|mean|minimum|niblack|sauvola)$", name)
        if threshold and not self.clesperanto(e):
            name = {"minimum": "minimum_threshold"}.get(threshold[1], threshold[1])
        return f"{name}({', '.join(words)})"

    def clesperanto(self, e):
        base = e.func
        while isinstance(base, ast.Attribute):
            base = base.value
        return isinstance(base, ast.Name) and base.id in ("cle", "clesperanto", "pyclesperanto", "pyclesperanto_prototype")

    def measures(self, e):
        given = {one.arg: one.value for one in e.keywords}
        words = [self.expression(e.args[0] if e.args else given["label_image"])]
        image = e.args[1] if len(e.args) > 1 else given.get("intensity_image")
        wanted = [one.value for one in getattr(given.get("properties"), "elts", [])] or ["area", "centroid"]
        words += [self.expression(image)] if image is not None else []
        return f"measure({', '.join(words + [_PROPERTIES.get(one, one) for one in wanted if one != 'label'])})"

    # ---- statements ----

    def reads(self, e):
        while isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr == "astype":
            e = e.func.value
        name = getattr(e.func, "attr", getattr(e.func, "id", "")) if isinstance(e, ast.Call) else ""
        inner = e.args[0] if name == "push" and e.args else None
        return name in _READS and not (inner is not None and isinstance(inner, ast.Name) and inner.id in self.draft.known)

    def assign(self, s):
        target, value = s.targets[0], s.value
        if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
            target = target.elts[0]  # labels, n = ndi.label(mask)
        if not isinstance(target, ast.Name) or len(s.targets) > 1:
            raise NoWay
        number = isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant) or isinstance(value, ast.Constant)
        if self.reads(value):
            self.draft.add_input(target.id)
        elif number and target.id not in self.draft.params and not isinstance(getattr(value, "value", 0), str):
            self.draft.params[target.id] = self.expression(value)
        else:
            text = self.expression(value)
            if text != target.id:
                self.draft.add(target.id, text)

    def statement(self, s, text):
        if isinstance(s, ast.Import):
            self.modules |= {(one.asname or one.name).split(".")[0] for one in s.names}
        elif isinstance(s, ast.ImportFrom):
            self.modules |= {one.asname or one.name for one in s.names}
        elif isinstance(s, ast.Assign):
            self.assign(s)
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) and type(s.op) in _OPERATORS:
            value = f"{self.draft.name(s.target.id)} {_OPERATORS[type(s.op)]} {self.part(s.value)}"
            self.draft.add(s.target.id, value)
        elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
            name = getattr(s.value.func, "attr", getattr(s.value.func, "id", ""))
            inner = [one for argument in s.value.args for one in ast.walk(argument)]
            names = [one.id for one in inner if isinstance(one, ast.Name) and one.id in self.draft.known]
            if name in _WRITES and names:
                self.draft.add_output(names[0])
            elif name != "print":
                raise NoWay
        elif not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
            raise NoWay


def from_python(text):
    """A draft of a Python script."""
    reader = _Python()
    for s in ast.parse(text).body:
        try:
            reader.statement(s, text)
        except (NoWay, KeyError):
            reader.draft.decide(ast.get_source_segment(text, s) or "")
    return reader.draft


# ---- the compiler's words ----------------------------------------------------------------------


def _end_of_call(line, at):
    """Where the call whose name ends at `at` ends; None where it goes on in another line."""
    depth = 0
    for i in range(at, len(line)):
        depth += (line[i] in "([") - (line[i] in ")]")
        if depth == 0 and line[i] in ")]":
            return i + 1
    return None


def _mend(lines, mistake):
    """Puts what the compiler proposes into the line; False where it proposes nothing."""
    i, begin, end = mistake["line"] - 1, mistake["column"] - 1, mistake["endColumn"] - 1
    line, help = lines[i], mistake["help"] or ""
    if help.startswith("here: "):
        close = _end_of_call(line, end) if line[end:end + 1] == "(" else end
        here, _, remark = re.sub("^([^#]*?); ", r"\1 # ", help[len("here: "):]).partition(" # ")
        here = re.sub(r"\[0, ([^,\]]+), \1\]", r"\1", here) if "[z" not in lines[2] else here  # no planes
        if close is None:
            return False
        inner = line[:begin].rstrip().endswith(("(", ",", "-", "+", "*", "/", ">", "<", "not")) or line[close:].lstrip()[:1] in tuple("+-*/><")
        plain = re.match(r"[\w.]+(\(.*\))?$", here)
        lines[i] = line[:begin] + (f"({here})" if inner and not plain else here) + line[close:]
        if remark and "# " + remark not in lines[i]:
            lines[i] += "  # " + remark
        return True
    renamed = re.search(r"has no argument `(\w+)`", mistake["message"]), re.search(r"here it is `(\w+)`", help)
    if all(renamed):
        lines[i] = line[:begin] + re.sub(rf"\b{renamed[0][1]}(?= *=)", renamed[1][1], line[begin:], count=1)
        return lines[i] != line
    return False


def _give_up(lines, mistake):
    """The line stays as a comment, with the reason."""
    i = mistake["line"] - 1
    why = mistake["message"] + (f"; {mistake['help']}" if mistake["help"] else "")
    lines[i:i + 1] = [f"# decide: {lines[i]}", f"#   {' '.join(why.split())}"]


def settle(text):
    """The draft with the compiler's words, as far as it goes."""
    lines = text.split("\n")
    for _ in range(_MANY):
        try:
            compile_pipeline("\n".join(lines) + "\n", "import")
            break
        except CompileError as error:
            mistakes = [one for one in error.mistakes if one["severity"] == "error" and 0 < one["line"] <= len(lines)]
            mistakes.sort(key=lambda one: (one["line"], one["column"]))  # what follows is known once the first is right
            if not mistakes or not lines[mistakes[0]["line"] - 1].strip() or lines[mistakes[0]["line"] - 1].startswith("#"):
                break
            if not _mend(lines, mistakes[0]):
                _give_up(lines, mistakes[0])
    return "\n".join(lines).rstrip("\n") + "\n"


def import_text(text, name):
    """The pipeline for a script: `name` ends in .ijm or .py."""
    draft = from_macro(text) if name.endswith(".ijm") else from_python(text)
    return settle(draft.text(os.path.basename(name)))


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 1 or not arguments[0].endswith((".ijm", ".py")):
        sys.exit("usage: pipec import macro.ijm|script.py > pipeline.pipe")
    try:
        with open(arguments[0], encoding="utf-8") as file:
            print(import_text(file.read(), arguments[0]), end="")
    except (OSError, SyntaxError, UnicodeDecodeError, PipecError) as error:
        sys.exit(f"pipec import: {error}")


if __name__ == "__main__":
    main()
