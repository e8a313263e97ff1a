"""Colours in editors, notebooks and pages: the grammars, the lexer, the extension for VS Code, a notebook as it is run."""

import os
import shutil
import subprocess
import sys

import pytest

from pipec import _command

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EDITORS = os.path.join(ROOT, "editors")


@pytest.fixture(scope="module")
def command():
    try:
        return _command.path()
    except FileNotFoundError:
        pytest.skip("the command is not here")


def need(program):
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not here")
    return path


def test_grammars_know_all_words(command):
    words = subprocess.run([command, "ops", "--words"], capture_output=True, check=True).stdout
    make = [sys.executable, os.path.join(EDITORS, "make_grammars.py"), "--check"]
    checked = subprocess.run(make, input=words, capture_output=True)
    assert checked.returncode == 0, checked.stderr.decode()


def test_vscode(command):
    node = need("node")
    subprocess.run([node, os.path.join(EDITORS, "vscode", "test.js"), command], check=True, timeout=60)


def test_vim(tmp_path):
    vim = need("vim")
    script = tmp_path / "look.vim"
    script.write_text(
        f"set nocompatible\nset rtp^={EDITORS}/vim\nfiletype plugin on\nsyntax on\nedit {tmp_path}/a.pipe\n"
        "let names = map([1, 8, 12, 24, 26, 30, 33, 35, 52], 'synIDattr(synID(2, v:val, 1), \"name\")')\n"
        f"call writefile([&filetype] + names, '{tmp_path}/said')\nqa!\n"
    )
    (tmp_path / "a.pipe").write_text("\noutput a = gaussian(v, 2 um) if t.area > 3 else 0  # why\n")
    subprocess.run([vim, "-es", "-u", script], stdin=subprocess.DEVNULL, timeout=30, env={**os.environ, "TERM": "dumb"})
    assert (tmp_path / "said").read_text().split("\n") == [
        "pipe", "pipeStatement", "", "pipeOperator", "pipeNumber", "pipeNumber", "pipeControl", "", "pipeProperty", "pipeComment", ""]


def test_pygments():
    pytest.importorskip("pygments")
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    from pipec.pygments import PipeLexer

    text = 'param s = 2 um in 0.5 um .. 1e3 "why"\nb = gaussian(v, s) if not t.area > 3 else true # so\n'
    tokens = [(kind, word) for kind, word in PipeLexer().get_tokens(text) if word.strip()]
    for one in ((Keyword.Declaration, "param"), (Number, "2 um"), (Number, "0.5 um"), (Operator, ".."), (Number, "1e3"),
                (String.Double, '"why"'), (Name.Builtin, "gaussian"), (Operator.Word, "not"), (Name.Attribute, ".area"),
                (Keyword.Constant, "true"), (Comment.Single, "# so")):
        assert one in tokens, one
    assert "".join(word for _, word in PipeLexer().get_tokens(text)) == text


def test_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("tifffile")
    notebook = nbformat.read(os.path.join(ROOT, "samples", "blobs.ipynb"), as_version=4)
    client.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": os.path.join(ROOT, "samples")}}).execute()
    said = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output["data"] for output in said if "data" in output]
    assert "data:image/png" in shown[0]["text/html"] and "<table" in shown[0]["text/html"]
    assert shown[-1]["text/plain"] == "60"
