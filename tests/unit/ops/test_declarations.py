"""A declaration says all that is known of an operation: ``ops`` keeps no lists of names."""

import ast
import importlib

import pytest

from tests.laws.test_architecture import FILES, PACKAGE, name_of, parsed, part_of
from tinynet import ops
from tinynet.base.lazy import HOMES
from tinynet.core.declaration.operation import REGISTRY, Operation
from tinynet.core.tensors.tensor import METHODS

functions = {name: getattr(ops, name) for name in HOMES["tinynet.ops"]}
NAMES = {*REGISTRY, *METHODS, *functions}


def elements(node):
    """The elements of a display, the keys of a dict, or the words of a string."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("dict", "update")):
        return [ast.Constant(keyword.arg) for keyword in node.keywords]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [ast.Constant(word) for word in node.value.split()]
    return []


def is_operation(node, module):
    """Whether an element names an operation or a public function, or is one."""
    if isinstance(node, ast.Tuple) and node.elts:  # a row of a table
        return is_operation(node.elts[0], module)
    if isinstance(node, ast.Constant):
        return node.value in NAMES
    if isinstance(node, ast.Name):
        value = getattr(module, node.id, None)
        return isinstance(value, Operation) or any(value is f for f in functions.values())
    return False


def lists_of_names(tree, module):
    """The lines with at least three elements, all of them names of operations."""
    for node in ast.walk(tree):
        found = elements(node)
        if len(found) >= 3 and all(is_operation(element, module) for element in found):
            yield node.lineno


LISTS = [p for p in FILES if part_of(p) == "ops" and p.name != "dispatch.py"]  # of batching


@pytest.mark.parametrize("path", LISTS, ids=name_of)
def test_ops_keeps_no_list_of_operations(path):
    dotted = path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
    module = importlib.import_module(dotted.removesuffix(".__init__"))
    assert [*lists_of_names(parsed(path), module)] == []


@pytest.mark.parametrize(
    "text",
    [
        "('view', 'expand', 'reshape')",
        "{'sum': 1, 'mean': 2, 'prod': 3}",
        "dict(sum=1, mean=2, prod=3)",
        "'hstack vstack dstack'",
        "for op in (sin, cos, tan): pass",
        "[('expand', 1), ('narrow', 2), ('permute', 3)]",
    ],
)
def test_a_list_of_operations_is_found(text):
    module = importlib.import_module("tinynet.ops.pointwise.trigonometry")
    assert [*lists_of_names(ast.parse(text), module)]
