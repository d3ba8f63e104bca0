"""Autograd's error messages: the lines that saved, changed and needed a value, and the fix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tinynet import dtypes, errors
from tinynet.core import seams
from tinynet.core.callsite import Location, Site, locate
from tinynet.core.tensors.tensor import METHODS
from tinynet.core.tensors.version import Change, Writer
from tinynet.core.trace import Scope, modules_of, name_of, path_of
from tinynet.dtypes import Array

_WRITTEN = r"^([A-Za-z_][\w.]*)\s*(\[|\.\w+_\(|(?:\*\*|//|[-+*/@])=)"
_WIDTH = 34


def row(label: str, where: Location | None, note: str) -> list[str]:
    """Return one labelled line, with carets below an expression that is only part of it.

    Without a place and a note, return no lines.
    """
    if where is None:
        return [f"  {label:<8} {note}"] if note else []
    start = f"  {label:<8} {where.place:<24} "
    text = where.text
    lines = [f"{start}{text:<{_WIDTH}} {note}".rstrip()]
    if text and (where.start, where.end) != (0, len(text)) and where.end > where.start:
        lines.append(" " * (len(start) + where.start) + "^" * (where.end - where.start))
    return lines


def kind_of(array: Array) -> str:
    """Return ``tinynet.FloatTensor [2, 3]``."""
    return f"tinynet.{dtypes.of(array).tensor_name} {list(array.shape)}"


def _in_module(scope: Scope | None) -> str:
    path = path_of(scope)
    return f"   module {path}" if path else ""


def _saved_row(
    node: Any, saved: Location | None, is_output: bool, leaf: Any, scopes: Sequence[Scope | None]
) -> list[str]:
    scope = getattr(node, "scope", None)
    names = [] if leaf is None else [name_of(leaf, s) for s in (scope, *scopes)]
    name = next(filter(None, names), "")
    what = "its output" if is_output else f"its input{name and ': ' + name}"
    return row("saved", saved, f"for {node.name()} ({what}){_in_module(scope)}")


def modified_error(
    node: Any,
    array: Array,
    output: str,
    version: int,
    expected: int,
    changes: Sequence[Change],
    is_output: bool,
    needed: Location | None,
    leaf: Any = None,
    counter: Any = None,
) -> errors.AutogradError:
    """Return the error for a saved value that was changed in place, with its lines and fix."""
    saved = locate(node.site)
    owner = counter if leaf is None else leaf
    lines = _saved_row(node, saved, is_output, owner, [c.scope for c in changes])
    changed = [locate(c.site) for c in changes]
    hidden = version - expected - len(changes)
    if hidden:
        lines.append(f"  changed  {hidden} more times before:")
    for change, where in _counted(list(zip(changes, changed, strict=True))):
        lines += row("changed", where, change)
    lines += row("needed", needed, "")
    return errors.AutogradError(
        errors.modified(kind_of(array), output, version, expected),
        lines=lines,
        saved_at=saved,
        changed_by=changed,
        needed_at=needed,
        hint=_fix(changes[-1] if changes else None, changed[-1] if changed else None, saved, leaf),
        topic="inplace-saved",
    )


def _counted(changes: list[tuple[Change, Location | None]]) -> list[tuple[str, Location | None]]:
    """Describe each change; writes by the same line (a loop) become one entry with a count."""
    rows: list[tuple[str, Location | None]] = []
    position = 0
    while position < len(changes):
        change, where = changes[position]
        times = 1
        while position + times < len(changes) and changes[position + times][1] == where:
            times += 1
        last = changes[position + times - 1][0]
        often = "" if times == 1 else f" {times} times"
        note = f"by {change.what}{often}, version {change.version - 1} -> {last.version}"
        rows.append((note + _in_module(change.scope), where))
        position += times
    return rows


def _fix(change: Change | None, where: Location | None, saved: Location | None, leaf: Any) -> str:
    """Suggest a replacement for this kind of write."""
    if change is None:
        return "keep a copy of the saved value with `.clone()` and change the copy"
    if isinstance(change.what, Writer):
        return change.what.remedy
    if leaf is not None:
        return (
            "write to it after the backward() that needs the old values, or run the forward again "
            "after the write"
        )
    module = next(iter(modules_of(change.scope)[::-1]), None)
    if getattr(module, "inplace", False) is True:
        return f"set `inplace=False` on {path_of(change.scope)}"
    return _rewritten(where, saved)


def _rewritten(where: Location | None, saved: Location | None) -> str:
    """Suggest how to rewrite the user's line without the in-place write."""
    match = _written(where)
    if where is None or match is None:
        return "change a copy: `.clone()` the tensor before the write, or use an out-of-place form"
    name = match[1]
    same = saved is not None and (saved.filename, saved.line) == (where.filename, where.line)
    if same and match[2] == "[":
        return (
            f"the line reads `{name}` and then writes to it: in a loop, collect the parts in a "
            "list and `stack(parts)` them after the loop; or read from a copy, "
            f"`{name}[...].clone()` (all of a tensor's memory shares one version counter, even "
            "parts that do not overlap)"
        )
    before = f"the write in line {where.line}" if same else f"line {where.line}"
    copy = f"change a copy: `{name} = {name}.clone()` before {before}"
    other = _out_of_place(name, match[2])
    return f"{copy}; or out of place: `{other}`" if other else copy


def _written(where: Location | None) -> re.Match[str] | None:
    """Match the name and the kind of write in the expression that ran, or else in its line."""
    if where is None:
        return None
    return re.match(_WRITTEN, where.expression) or re.match(_WRITTEN, where.text)


def _out_of_place(name: str, write: str) -> str:
    """Return the out-of-place form of a write: ``[``, ``.add_(`` or ``+=``."""
    if write == "[":
        return f"{name} = where(mask, new, {name})"
    if write.endswith("="):
        return f"{name} = {name} {write[:-1]} ..."
    method = write[1:-1]
    if method in seams.out_of_place:
        return f"{name} = {seams.out_of_place[method].format(name)}"
    method = method.rstrip("_")
    return f"{name} = {name}.{method}(...)" if method in METHODS else ""


def unseen_change_error(
    node: Any, array: Array, is_output: bool, needed: Location | None
) -> errors.AutogradError:
    """Return the error for a saved array that was changed without autograd's knowledge."""
    saved = locate(node.site)
    lines = _saved_row(node, saved, is_output, None, ())
    lines += row("changed", None, "between these lines, by code that autograd cannot see")
    lines += row("needed", needed, "")
    return errors.AutogradError(
        errors.UNSEEN.format(kind_of(array)),
        lines=lines,
        saved_at=saved,
        needed_at=needed,
        hint=(
            "writes through `.data`, or to a numpy array that shares the tensor's memory "
            "(`from_numpy(a)`, `x.numpy()`), are not tracked: use `.detach()` instead of `.data`, "
            "and copy arrays with `tensor(a)`"
        ),
        topic="unseen-change",
    )


def freed_error(
    site: Site | None, freed_at: Site | None, needed: Location | None, what: str = ""
) -> errors.AutogradError:
    """Return the error for values that an earlier backward freed."""
    saved, first = locate(site), locate(freed_at)
    lines = row("saved", saved, "")
    lines += row("freed", first, "by the first backward")
    lines += row("needed", needed, "")
    hint = (
        "run the forward again before the second backward; or, if a value came from an earlier "
        "step (a hidden state, a running sum), detach it there: `h = h.detach()`. Only if both "
        "backward calls are meant to share one graph: retain_graph=True in the first"
    )
    sentence = errors.freed(what) if what else errors.freed()
    return errors.AutogradError(
        sentence,
        lines=lines,
        saved_at=saved,
        changed_by=[first],
        needed_at=needed,
        hint=hint,
        topic="freed-graph",
    )


def leaf_write_error(sentence: str, where: Location | None) -> errors.AutogradError:
    """Return the error for an in-place operation on a leaf, or on a view of one."""
    match = _written(where)
    form = _out_of_place(match[1], match[2]) if match else ""
    if not form or (match and match[2] == "["):
        form = "w = w + ..."
    hint = (
        "to update or fill it without recording: do it inside `with no_grad():`. To compute a new "
        f"tensor: `{form}` (the result is not a leaf: its .grad stays None and an optimizer does "
        "not see it)"
    )
    return errors.AutogradError(
        sentence,
        lines=row("changed", where, ""),
        changed_by=[where],
        hint=hint,
        topic="leaf-inplace",
    )


def leaf_moved_error(change: Change | None, needed: Location | None) -> errors.AutogradError:
    """Return the error for a leaf that an assignment turned into a computed tensor."""
    where = locate(change.site) if change else None
    lines = row("changed", where, f"by {change.what}: no longer a leaf" if change else "")
    lines += row("needed", needed, "")
    hint = (
        "to fill or initialise it: assign inside `with no_grad():` (it stays a leaf), or fill a "
        "plain tensor first and then make it a parameter. To compute with it: assign to a copy, "
        "`b = a.clone()`, then `b[...] = ...`"
    )
    return errors.AutogradError(
        errors.LEAF_MOVED,
        lines=lines,
        changed_by=[where],
        needed_at=needed,
        hint=hint,
        topic="leaf-moved",
    )


def view_write_error(
    sentence: str, made: Location | None, where: Location | None, origin: str
) -> errors.AutogradError:
    """Return the error for an in-place write to a view that does not allow it."""
    lines = row("view", made, "created here")
    lines += row("changed", where, "")
    hint = f"put both lines inside the {origin} block, or both outside"
    if origin == "function":
        hint = "write to a copy: `.clone()` the output of the Function"
    if origin == "multiple":
        hint = (
            "index instead of iterating or splitting: `x[i] = x[i] * 2`, or compute the whole "
            "tensor out of place: `x = x * 2` (iterating over a tensor calls unbind)"
        )
    return errors.AutogradError(
        sentence, lines=lines, changed_by=[where], hint=hint, topic="view-inplace"
    )
