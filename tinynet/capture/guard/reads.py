"""What a captured function reads outside of its arguments: each value becomes a guard.

Code is not followed instruction by instruction. What it mentions is looked up in what it can reach:
in global and outer variables, in the arguments and results of the functions that run, and in all
objects, classes and containers that hang on them. A name may be mentioned and not read; then a
guard fails without need, and the function is captured again.
"""

from __future__ import annotations

import builtins
import dis
import functools
import gc
import importlib.util
import operator
import os
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tinynet.capture.guard.holdings import (
    ABSENT,
    BUFFERS,
    CONTAINERS,
    alike,
    bases_of,
    contents,
    is_a,
    is_iterator,
    is_plain,
    members_of,
    module_of,
    named,
    namespace_of,
    of_class,
    unchanged,
    value_of,
)
from tinynet.capture.guard.reach import Names, Reach
from tinynet.capture.program import CaptureError, leaves
from tinynet.core.graph.node import Node
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn.base.module import Module
from tinynet.nn.base.registry import attributes
from tinynet.optim.optimizer import Optimizer
from tinynet.random import Generator

# Not known to the garbage collector, they and iterators over ranges may be new; what is older is
# found by the variable that holds it.
_CHANGING = (*CONTAINERS, *BUFFERS)
MAKES = ("__init__", "__new__", "__post_init__")  # they get a new object first
# Code refers to them by name, and no one sets these names anew.
STEADY = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
# Code with one of these names may read any attribute of an object, or any global variable.
_ANY = frozenset("__dict__ __getattribute__ attrgetter dir getmembers methodcaller vars".split())
_SIGNS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
    "@": "matmul", "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
    "[]": "getitem",
}  # fmt: skip
_METHODS = {
    "BINARY_SUBSCR": "__getitem__", "STORE_SUBSCR": "__setitem__", "UNARY_NEGATIVE": "__neg__",
    "UNARY_INVERT": "__invert__",
}  # fmt: skip
_FOLLOWED = (Module, Tensor, Node, Generator)  # what they hold, others note
_LOADS = "LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"  # of variables by name
_ANY_GLOBAL = frozenset({"globals", "eval", "exec"})


def _is_tool(thing: Any) -> bool:
    """Return whether code of tinynet reads the attributes of an object: its class's, or a base's.

    An optimizer of the user's does so in its own code, which the events show.
    """
    kind = type(thing)
    bases = (kind,) if is_a(thing, Optimizer) else bases_of(kind)
    return any(module_of(base).partition(".")[0] == "tinynet" for base in bases)


class Reads(Reach):
    """The values that a function reads.

    Args:
        function: the captured function.
        later: its backward pass is watched; what the function made is still young.

    Attributes:
        later: as given.
        passed: lists and dictionaries that are arguments, and what they hold.
    """

    def __init__(self, function: Callable[..., Any], later: bool = False):
        super().__init__()
        self.passed: dict[int, tuple[Any, list[Any]]] = {}
        self.later = later
        self._tensors_passed: set[int] = set()
        self._function = function
        self._codes: set[Any] = set()
        self._called: dict[int, Any] = {}  # those whose methods are called
        self._tools: dict[int, Any] = {}  # objects of tinynet's classes, and what they hold
        if not later:
            gc.collect(0)  # from now on, what is young is made by the function

    # ---- after the call ---------------------------------------------------------------------

    def values(self) -> Iterator[Any]:
        """Yield all values."""
        for names in self.names.values():
            yield from names.values.values()
        yield from (value for _, value in self.cells.values())
        for _, items in self.containers.values():
            yield from items

    def finish(self) -> None:
        """Forget what the function made, and what is not in a guard."""
        made = {id(thing) for thing in gc.get_objects(generation=0)}

        def old(thing: Any) -> bool:
            tracked = next(filter(gc.is_tracked, self._way_to(thing)), None)
            return tracked is None or id(tracked) not in made

        self.hidden = [found for found in self.hidden if old(found[0])]
        tables: tuple[dict[Any, Any], ...] = (
            self.names, self.cells, self.containers, self.attributes, self.kinds, self.orders,
            self.lacking, self.references, self.tensors, self._tools, self._called,
        )  # fmt: skip
        for found in tables:
            self._keep(found, old)
        for key in self._tensors_passed:
            self.tensors.pop(key, None)
        for names in self.names.values():
            names.title = _title(names.owner)
            if not self._has_own_dict(names.owner):
                names.owner = None
        self._visited, self._parents, self._codes = {}, {}, set()

    def forget(self, owner: Any, name: str, tensor: bool) -> None:
        """Forget an attribute of an object, which a program sets itself.

        Args:
            owner, name: the object and the name.
            tensor: forget what it is, too, unless the code gets that otherwise.
        """
        names = self.names.get(id(owner))
        value = ABSENT if names is None else names.values.pop(name, ABSENT)
        if tensor and not any(other is value for other in self.values()):
            self.tensors.pop(id(value), None)

    def _has_own_dict(self, owner: Any) -> bool:
        """Return whether the namespace of an object could be replaced, and the object be kept."""
        if is_a(owner, (dict, type, types.ModuleType)):
            return False
        # A weak reference may be all that keeps it in reach.
        return not any(is_a(thing, weakref.ref) for thing in self._way_to(owner))

    def _way_to(self, thing: Any) -> Iterator[Any]:
        """Yield a thing, and the things by which it was reached; they may form a circle."""
        seen: set[int] = set()
        while thing is not None and id(thing) not in seen:
            seen.add(id(thing))
            yield thing
            thing = self._parents.get(id(thing))

    @staticmethod
    def _keep(found: dict[Any, Any], old: Callable[[Any], bool]) -> None:
        for key, entry in [*found.items()]:
            owner = getattr(entry, "owner", entry[0] if isinstance(entry, tuple) else entry)
            if not old(owner):
                del found[key]

    def changed(self, performed: set[int]) -> Iterator[tuple[str, str]]:
        """Yield what the code changed, in words, and the word for it.

        Args:
            performed: ids of objects that a replay changes, too.
        """
        for container, items in self.passed.values():
            if not unchanged(container, items):
                yield f"{named(container)} that is passed to it", "container"
        for container, items in self.containers.values():
            if not unchanged(container, items):
                yield f"{named(container)} from outside", "container"
        for names in self.names.values():
            for name, value in names.values.items():
                if names.held.get(name, ABSENT) is not value:
                    yield f"{name!r} of an object from outside", "object"
            if names.size is not None and names.size != len(names.held):
                yield f"the attributes of {names.title} from outside", "object"
        for thing, name, value in self.attributes.values():
            if not alike(value_of(thing, name), value):
                yield f"{name!r} of an object from outside", "object"
        for thing, before in self._tools.values():
            if id(thing) not in performed and _held_by(thing) != before:
                yield f"{named(thing)} from outside", "object"

    def unsteady(self) -> Iterator[str]:
        """Yield what may have another value when a backward pass runs, in words.

        Names are compared again then; what lists and closures hold is changed more often.
        """
        if not all(is_a(value, STEADY) for _, value in self.cells.values()):
            yield "an outer variable"
        for container, _ in self.containers.values():
            yield named(container)

    def of_called(self, performed: set[int]) -> None:
        """Make guards of what tinynet's objects hold whose methods a replay does not call."""
        for thing, holder, parts in self._called.values():
            if performed.isdisjoint({id(thing), id(holder)}):
                for part, items in parts:
                    self.containers.setdefault(id(part), (part, items))
                if holder is not None:  # its private attributes may be caches
                    own = namespace_of(thing) or {}
                    self._names(thing, own, [name for name in own if name[0] != "_"], sized=False)

    def of_optimizer(self, optimizer: Any) -> None:
        """Note whose gradients an optimizer uses and clears: the code may read them, too."""
        groups = optimizer.param_groups
        for group in groups:
            self._names(group, group, ["params"], sized=False)
        for part in (groups, *(group["params"] for group in groups)):
            self.containers.setdefault(id(part), (part, contents(part)))

    def of_arguments(self, structure: Any) -> None:
        """Note what the lists and dictionaries hold that are passed to the function."""
        if is_a(structure, Tensor):
            self._tensors_passed.add(id(structure))
            if namespace_of(structure):
                words = "gets a tensor that has attributes of its own"
                self.hidden.append((structure, words, "pass the values of its attributes, too"))
        if is_a(structure, list | dict):
            self.passed[id(structure)] = structure, contents(structure)
        if is_a(structure, list | tuple | dict):
            for part in contents(structure):
                self.of_arguments(part)

    def require_new(self, result: Any) -> None:
        """Raise CaptureError if a result has a container in it that was there before."""
        if not is_a(result, list | tuple | dict):
            return
        if id(result) in self.passed or id(result) in self.containers:
            reason = f"the function returns {named(result)} from outside"
            raise CaptureError(reason, "return a copy of it")
        for part in contents(result):
            self.require_new(part)

    # ---- during the call --------------------------------------------------------------------

    def of_training(self, module: Any) -> None:
        """Note the mode of a module that is set."""
        self.reach(module)

    def of_environment(self) -> None:
        """Note the variables of the environment."""
        self.reach(os.environ.__dict__["_data"])

    def of_module(self, module: Any) -> None:
        """Note the attributes of a module that runs."""
        self.reach(module)

    def of_members(self, module: Any, tables: Iterable[str]) -> None:
        """Note all members of a module in some tables, over which code of tinynet goes."""
        self.reach(module)
        for table in tables:
            self.reach_items(attributes(module)[table])

    def of_hooks(self, stages: list[dict[int, Any]]) -> None:
        """Note which hooks a module has, by stage."""
        for stage in stages:
            self.containers[id(stage)] = stage, contents(stage)

    def of_result(self, value: Any) -> None:
        """Note what the caller of a function may read in its result."""
        self._of_local(value)

    def of_tool(self, thing: Any, holder: Any = None) -> None:
        """Note what an object of one of tinynet's classes holds, whose method is called.

        Args:
            thing: the object.
            holder: the object that holds it, if that one's method is called.
        """
        own = namespace_of(thing)
        if own is None or is_a(thing, _FOLLOWED) or not _is_tool(thing):
            return
        if holder is None:
            self.reach(thing)
        elif id(thing) in self._called:
            return
        parts = [own] * (holder is None)
        parts += [value for value in own.values() if is_a(value, CONTAINERS)]
        self._called[id(thing)] = thing, holder, [(part, contents(part)) for part in parts]
        if module_of(type(thing)).startswith("tinynet.capture."):
            return  # a capture changes what compiled functions hold
        for part in (own, *parts):
            for value in contents(part):
                self.of_tool(value, thing if holder is None else holder)

    def of_import(self, path: str) -> None:
        """Note a module that is imported, and the packages that it is in."""
        parts = path.split(".")
        for i in range(len(parts)):
            name = ".".join(parts[: i + 1])
            if name in sys.modules:
                self.variables(sys.modules, sys.modules, [name])
                self.reach(sys.modules[name])

    def of_lookup(self, thing: Any, name: Any) -> None:
        """Note an attribute that is looked up by ``getattr``."""
        if not is_a(name, str):
            return
        self.mention([name])
        self._of_local(thing)
        own = namespace_of(thing)
        if id(thing) in self._tensors_passed and of_class(type(thing), name) is ABSENT:
            words = f"looks for the attribute {name!r} of a tensor that is passed to it"
            self.hidden.append((thing, words, "pass its value, too"))
        elif own is not None and name not in own:
            found = self.names.setdefault(id(thing), Names(thing, own, None))
            found.missing.add(name)
        kind = thing if is_a(thing, type) else type(thing)
        if of_class(kind, name) is ABSENT:
            self.lacking[id(kind), name] = kind, name

    def of_frame(self, frame: Any, code: Any, library: bool = False) -> None:
        """Note what the code of a frame that begins may read.

        Args:
            library: the code is Python's own; only the objects that it gets matter.
        """
        first = code not in self._codes
        self._codes.add(code)
        if first:
            self.mention(mentioned(code))
            if not library and not _ANY.isdisjoint(code.co_names):
                self.mention_all()
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        for name in code.co_varnames[code.co_name in MAKES : count]:
            self._of_local(frame.f_locals.get(name))
        if first and not library:
            self.code(code, frame.f_globals)
            for function in self._functions_of(code):
                self.reach(function)

    def _of_local(self, value: Any) -> None:
        """Note an argument or result of a function inside."""
        if is_a(value, CONTAINERS) and id(value) in self.passed:
            for item in contents(value):
                self.reach(item)
        elif gc.is_tracked(value) or not (is_a(value, _CHANGING) or is_iterator(value)):
            self.reach(value)

    def code(self, code: types.CodeType, variables: dict[str, Any]) -> None:
        """Note the variables and modules that code mentions."""
        self.mention(mentioned(code))
        loaded, imported = loads(code)
        chosen = loaded & variables.keys()
        self.variables(variables, variables, chosen)
        if not _ANY_GLOBAL.isdisjoint(code.co_names):
            for name in variables.keys() - chosen - {"__builtins__"}:
                self.variables(variables, variables, [name], is_plain(variables[name]))
        names = self.names[id(variables)]
        if not _ANY_GLOBAL.isdisjoint(code.co_names):
            names.order = [*variables]
        names.missing |= loaded - variables.keys()
        built = variables.get("__builtins__", builtins)
        own = built if is_a(built, dict) else vars(built)
        self.variables(own, own, [n for n in loaded - variables.keys() if n in own], follow=False)
        for name, level in imported:
            package = variables.get("__package__") or ""
            path = importlib.util.resolve_name("." * level + name, package) if level else name
            self.of_import(path)
        while self._waiting:
            self._visit(self._waiting.pop())

    def _functions_of(self, code: Any) -> list[Any]:
        inner: Any = self._function
        inner = inner.__func__ if is_a(inner, types.MethodType) else inner
        if is_a(inner, types.FunctionType) and inner.__code__ is code:
            return [inner]
        if not code.co_freevars:
            return []
        return [f for f in gc.get_referrers(code) if is_a(f, types.FunctionType)]

    def _object(self, value: Any, names: set[str]) -> None:
        super()._object(value, names)
        root = module_of(type(value)).partition(".")[0]
        if root == "tinynet" and not is_a(value, Module | Tensor):
            self._tools.setdefault(id(value), (value, _held_by(value)))
            self._behind_properties(type(value), names)

    def _behind_properties(self, kind: type, names: set[str]) -> None:
        """Mention what properties of a class read that no Python code computes."""
        for base in bases_of(kind):
            held = members_of(base)
            for name in held.keys() & names:
                if is_a(held[name], property) and is_a(held[name].fget, operator.attrgetter):
                    self.mention(leaves(contents(held[name].fget)[1]))


def _title(thing: Any) -> str:
    """Return a name for an object, class or module."""
    if is_a(thing, types.ModuleType | type | types.FunctionType):
        return str(value_of(thing, "__name__"))
    return str(thing.get("__name__")) if type(thing) is dict else named(thing)


def _held_by(thing: Any) -> list[list[int]]:
    """Return what an object holds, and the containers among it, as ids."""
    own = namespace_of(thing) or {}
    parts = [value for value in own.values() if is_a(value, CONTAINERS)]
    return [[id(x) for x in contents(part)] for part in (own, *parts)]


def mentioned(code: types.CodeType) -> set[str]:
    """Return the names in some code, and the strings that may be names: ``getattr(x, "y")``."""
    found = {*code.co_names} | _operators(code)
    for constant in code.co_consts:
        strings = constant if type(constant) is tuple else (constant,)
        found.update(s for s in strings if type(s) is str and s.isidentifier())
    return found


@functools.lru_cache(1000)
def _operators(code: types.CodeType) -> frozenset[str]:
    """Return the methods behind the operators in some code."""
    found: set[str] = set()
    for instruction in dis.get_instructions(code):
        name, sign = instruction.opname, instruction.argrepr
        if name == "BINARY_OP":
            stem = _SIGNS[sign.rstrip("=")]
            found |= {f"__{stem}__", f"__r{stem}__"} | ({f"__i{stem}__"} if "=" in sign else set())
        elif name in _METHODS:
            found.add(_METHODS[name])
        elif name == "COMPARE_OP":
            found |= {f"__{stem}__" for stem in ("lt", "le", "eq", "ne", "gt", "ge")}
    return frozenset(found)


def loads(code: types.CodeType) -> tuple[set[str], list[tuple[str, int]]]:
    """Return the global variables that code loads, and the modules that it imports."""
    loaded, imported = set(), []
    constants: list[Any] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOADS:
            loaded.add(instruction.argval)
        elif instruction.opname == "IMPORT_NAME":
            imported.append((instruction.argval, constants[-2]))
        elif instruction.opname.startswith("LOAD_CONST") or instruction.opname == "LOAD_SMALL_INT":
            constants.append(instruction.argval)
    return loaded, imported
