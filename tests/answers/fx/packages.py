"""``torch.fx`` of PyTorch or tinynet, and what programs print of graphs."""

import contextlib
import importlib
import io
import re
import warnings


def fx_of(T, path=""):
    """Return ``torch.fx``, or a module in it."""
    package = f"{T.__name__}.fx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch's own modules
        return importlib.import_module(f"{package}.{path}".rstrip("."))


def texts(T, root, concrete_args=None):
    """Return the code and the text of the graph of a module or function."""
    traced = fx_of(T).symbolic_trace(root, concrete_args)
    return traced.code, str(traced.graph)


def rows(graph):
    """Return op, name, target and arguments of the nodes, as a table would show them."""
    shown = []
    for node in graph.nodes:
        target = node._pretty_print_target(node.target)
        shown.append((node.op, node.name, target, str(node.args), str(node.kwargs)))
    return shown


def printed(call):
    """Return what a call prints, without addresses."""
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        call()
    return re.sub(r"0x[0-9a-f]+", "0x", heard.getvalue())


def without(found, names):
    """Return a program's variables but those of some names: they are checked by what they print."""
    return {name: value for name, value in found.items() if name not in names.split()}
