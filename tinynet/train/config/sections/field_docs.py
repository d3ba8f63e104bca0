"""The documentation of the fields of dataclasses."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap


@functools.cache
def field_docs(section: type) -> dict[str, str]:
    """Return the documentation of each field of a section: the string literal below it.

    Example:
        >>> from tinynet.train.config.sections import RunSection
        >>> field_docs(RunSection)["epochs"]
        'The number of passes over the training set.'
    """
    docs: dict[str, str] = {}
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    assert isinstance(definition, ast.ClassDef)
    previous: ast.stmt | None = None
    for statement in definition.body:
        if isinstance(previous, ast.AnnAssign) and isinstance(previous.target, ast.Name):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    docs[previous.target.id] = inspect.cleandoc(text)
        previous = statement
    return docs
