"""%%pipe for IPython and Jupyter.

    %load_ext pipec.notebook
    %%pipe sigma=3
    input image[y, x]
    ...

The cell is compiled and called with the variables that are named as its inputs and params; its outputs become variables.
`%%pipe NAME` keeps the pipeline under that name, and does not run it.
"""

import ast

from ._errors import CompileError
from ._pipeline import compile as compile_pipeline


def _options(line):
    """'blobs sigma=3' to a name or None, and keywords."""
    name, options = None, {}
    for word in line.split():
        key, equals, value = word.partition("=")
        if equals:
            options[key] = ast.literal_eval(value)
        else:
            name = key
    return name, options


def pipe(line, cell, shell):
    """What %%pipe does."""
    name, options = _options(line)
    try:
        pipeline = compile_pipeline(cell + "\n", name or "cell")
    except CompileError as error:
        print(error)
        return None
    if name is not None:
        shell.user_ns[name] = pipeline
        return pipeline
    for about in [*pipeline.inputs, *pipeline.params]:
        if about["name"] in shell.user_ns:
            options.setdefault(about["name"], shell.user_ns[about["name"]])
    result = pipeline(**options)
    shell.user_ns.update(result)
    return result


def load_ipython_extension(shell):
    shell.register_magic_function(lambda line, cell: pipe(line, cell, shell), "cell", "pipe")
