"""``torch.utils._pytree``: flattening and rebuilding nested lists, tuples and dicts."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

PyTree = Any
Context = Any


class MappingKey(NamedTuple):
    """A step of a path: the key in a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the value of the key."""
        return mapping[self.key]


class SequenceKey(NamedTuple):
    """A step of a path: the index in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the item at the index."""
        return sequence[self.idx]


class GetAttrKey(NamedTuple):
    """A step of a path: the name of a field."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the field."""
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """How to flatten and rebuild nodes of one class."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Any, Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None


def _mapping(kind: Callable[[Any], Any]) -> tuple[Any, Any]:
    return (
        lambda x: ([*x.values()], [*x]),
        lambda children, keys: kind(zip(keys, children, strict=True)),
    )


def _namedtuple_flatten(d: Any) -> tuple[list[Any], Any]:
    """Return the fields of a named tuple and its class."""
    return [*d], type(d)


def _namedtuple_unflatten(values: Iterable[Any], context: Any) -> Any:
    """Return a named tuple of a class."""
    return context(*values)


_list_flatten, _list_unflatten = (lambda x: (x, None)), (lambda children, _: [*children])
_tuple_flatten, _tuple_unflatten = (lambda x: ([*x], None)), (lambda children, _: tuple(children))
_dict_flatten, _dict_unflatten = _mapping(dict)
_ordereddict_flatten, _ordereddict_unflatten = _mapping(OrderedDict)


def _dict_flatten_with_keys(d: Any) -> tuple[list[tuple[MappingKey, Any]], Any]:
    """Return the values of a dict with the steps to them, and its keys."""
    return [(MappingKey(key), value) for key, value in d.items()], [*d]


def _list_flatten_with_keys(d: Any) -> tuple[list[tuple[SequenceKey, Any]], Any]:
    """Return the items of a list or tuple with the steps to them."""
    return [(SequenceKey(i), value) for i, value in enumerate(d)], None


def _namedtuple_flatten_with_keys(d: Any) -> tuple[list[tuple[GetAttrKey, Any]], Any]:
    """Return the fields of a named tuple with the steps to them."""
    return [(GetAttrKey(name), value) for name, value in zip(d._fields, d, strict=True)], type(d)


_tuple_flatten_with_keys = _list_flatten_with_keys
_STEPS: dict[Any, Callable[[Any], tuple[list[tuple[Any, Any]], Any]]] = {
    **dict.fromkeys((list, tuple, deque), _list_flatten_with_keys),
    **dict.fromkeys((dict, OrderedDict, defaultdict), _dict_flatten_with_keys),
    namedtuple: _namedtuple_flatten_with_keys,
}
SUPPORTED_NODES: dict[Any, NodeDef] = {
    kind: NodeDef(kind, flatten, unflatten, _STEPS[kind])
    for kind, flatten, unflatten in (
        (list, _list_flatten, _list_unflatten),
        (tuple, _tuple_flatten, _tuple_unflatten),
        (namedtuple, _namedtuple_flatten, _namedtuple_unflatten),
        (dict, _dict_flatten, _dict_unflatten),
        (OrderedDict, _ordereddict_flatten, _ordereddict_unflatten),
        (deque, lambda x: ([*x], x.maxlen), lambda children, size: deque(children, size)),
        (
            defaultdict,
            lambda x: ([*x.values()], (x.default_factory, [*x])),
            lambda children, c: defaultdict(c[0], zip(c[1], children, strict=True)),
        ),
    )
}


@dataclasses.dataclass(frozen=True)
class TreeSpec:
    """The structure of a tree without its leaves.

    Attributes:
        type: the class of the node; None for a leaf.
        context: additional data of the class, such as the keys of a dict.
        children_specs: the structures of the children.
    """

    type: Any
    context: Any
    children_specs: list[TreeSpec]

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return 1 if self.type is None else sum(c.num_leaves for c in self.children_specs)

    def is_leaf(self) -> bool:
        """Return True for a leaf."""
        return self.type is None


@dataclasses.dataclass(frozen=True)
class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    type: Any = None
    context: Any = None
    children_specs: list[TreeSpec] = dataclasses.field(default_factory=list)


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    *,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None,
    **options: Any,
) -> None:
    """Register a class as a node type; instances of other classes are leaves.

    Args:
        cls: the class.
        flatten_fn: returns the children and a context.
        unflatten_fn: creates an instance from children and context.
        flatten_with_keys_fn: returns the children, each after its step, and a context.
        **options: names for serialization; ignored.

    Example:
        >>> from tinynet.compat import pytree
        >>> class Pair:
        ...     def __init__(self, a, b): self.a, self.b = a, b
        >>> pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda c, _: Pair(*c))
        >>> pytree.tree_leaves(Pair(1, [2, 3]))
        [1, 2, 3]
    """
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Register a dataclass as a node type: its fields are the children.

    Args:
        cls: the class.
        field_names: the fields; by default all that the constructor takes.
        drop_field_names: fields that are left out, and get their defaults.
        serialized_type_name: ignored.

    Raises:
        ValueError: no fields are given for a class that is not a dataclass.

    Example:
        >>> from tinynet.compat import pytree
        >>> import dataclasses
        >>> @dataclasses.dataclass
        ... class Pair:
        ...     a: int
        ...     b: int
        >>> pytree.register_dataclass(Pair)
        >>> pytree.tree_leaves_with_path(Pair(1, 2))
        [((GetAttrKey(name='a'),), 1), ((GetAttrKey(name='b'),), 2)]
    """
    if field_names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError(
                "field_names must be specified with a list of all fields used to initialize "
                f"{cls}, as it is not a dataclass."
            )
        field_names = [field.name for field in dataclasses.fields(cls) if field.init]
    names = [name for name in field_names if name not in (drop_field_names or ())]

    def steps(x: Any) -> tuple[list[tuple[GetAttrKey, Any]], Any]:
        return [(GetAttrKey(name), getattr(x, name)) for name in names], None

    register_pytree_node(
        cls,
        lambda x: ([getattr(x, name) for name in names], None),
        lambda children, _: cls(**dict(zip(names, children, strict=True))),
        flatten_with_keys_fn=steps,
    )


def is_namedtuple(obj: Any) -> bool:
    """Return whether an object is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj: Any) -> bool:
    """Return whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple_class(cls: Any) -> bool:
    """Return whether a class is one of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def _get_node_type(tree: Any) -> Any:
    """Return the key of `SUPPORTED_NODES` for a node: its class, or ``namedtuple``."""
    return namedtuple if is_namedtuple_class(type(tree)) else type(tree)


def tree_is_leaf(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Return whether `tree_flatten` would not look into an object.

    Args:
        tree, is_leaf: as in ``tree_flatten``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_is_leaf([1]), pytree.tree_is_leaf(None)
        (False, True)
    """
    return _get_node_type(tree) not in SUPPORTED_NODES or bool(is_leaf and is_leaf(tree))


def tree_flatten(
    tree: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], TreeSpec]:
    """Return the leaves and the structure.

    Args:
        tree: nested lists, tuples, dicts, named tuples; everything else is a leaf.
        is_leaf: a predicate that makes further nodes leaves.

    Example:
        >>> from tinynet.compat import pytree
        >>> leaves, spec = pytree.tree_flatten({"a": 1, "b": (2, 3)})
        >>> leaves, spec.num_leaves
        ([1, 2, 3], 3)
    """
    if tree_is_leaf(tree, is_leaf):
        return [tree], LeafSpec()
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    leaves, specs = [], []
    for child in children:
        below, spec = tree_flatten(child, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Return a tree with a given structure and leaves.

    Args:
        leaves: the leaves, as many as in the structure.
        treespec: the structure.

    Raises:
        ValueError: the number of leaves is wrong.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_unflatten([4, 5], pytree.tree_structure([0, (0,)]))
        [4, (5,)]
    """
    values = [*leaves]
    if len(values) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(values)} but the spec "
            f"refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return _built(treespec, iter(values))


def _built(spec: TreeSpec, rest: Iterator[Any]) -> Any:
    if spec.type is None:
        return next(rest)
    children = [_built(child, rest) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec) -> list[Any] | None:
    """Repeat the leaves of ``tree``, a prefix of the structure, for each leaf of the structure.

    Returns None if it is not a prefix.
    """
    if tree_is_leaf(tree):
        return [tree] * treespec.num_leaves
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if (kind, context, len(children)) != (
        treespec.type,
        treespec.context,
        len(treespec.children_specs),
    ):
        return None
    found: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(child, spec)
        if part is None:
            return None
        found += part
    return found


def tree_leaves(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves.

    Args:
        tree, is_leaf: as in ``tree_flatten``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_leaves([1, {"a": 2}])
        [1, 2]
    """
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """Return the structure.

    Args:
        tree, is_leaf: as in ``tree_flatten``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_structure([1, 2]) == pytree.tree_structure([3, 4])
        True
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """Apply a function to each leaf, and return the tree of results.

    Args:
        func: takes a leaf, and the corresponding leaves of the other trees.
        tree: the first tree.
        *rests: further trees of the same structure.
        is_leaf: as in ``tree_flatten``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_map(lambda x, y: x + y, {"a": 1}, {"a": 2})
        {'a': 3}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten(map(func, leaves, *others), spec)


def _chosen(kinds: Any) -> Callable[[Any], bool]:
    """Return the predicate of ``tree_map_only`` for a class, a tuple of classes, or a function."""
    if isinstance(kinds, (type, tuple)):
        return lambda leaf: isinstance(leaf, kinds)
    return kinds


def tree_map_only(
    kinds: Any,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """Apply a function to the leaves of certain classes only, and return the tree of results.

    Args:
        kinds: a class, a tuple of classes, or a predicate.
        func: takes the leaf.
        tree: the tree.
        is_leaf: as in ``tree_flatten``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_map_only(int, lambda n: n + 1, [1, "a"])
        [2, 'a']
    """
    chosen = _chosen(kinds)
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_map_(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """Apply a function to each leaf, and return the tree unchanged.

    Args:
        func, tree, rests, is_leaf: as in ``tree_map``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_map_(tn.Tensor.zero_, [tn.ones(1)])
        [tensor([0.])]
    """
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only_(
    kinds: Any,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """Apply a function to the leaves of certain classes, and return the tree unchanged."""
    tree_map_only(kinds, func, tree, is_leaf)
    return tree


# ---- paths --------------------------------------------------------------------------------------

Path = tuple[Any, ...]


def keystr(kp: Path) -> str:
    """Return the text of a path.

    Args:
        kp: its steps.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.keystr((pytree.MappingKey("a"), pytree.SequenceKey(0)))
        "['a'][0]"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Path) -> Any:
    """Return what is at the end of a path in a tree."""
    for step in kp:
        obj = step.get(obj)
    return obj


def tree_leaves_with_path(
    tree: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> list[tuple[Path, Any]]:
    """Return the leaves, each after its path.

    Args:
        tree, is_leaf: as in ``tree_flatten``.

    Raises:
        ValueError: a registered class has no ``flatten_with_keys_fn``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_leaves_with_path({"a": [5]})
        [((MappingKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    if tree_is_leaf(tree, is_leaf):
        return [((), tree)]
    flatten = SUPPORTED_NODES[_get_node_type(tree)].flatten_with_keys_fn
    if flatten is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {_get_node_type(tree)}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    return [
        ((step, *path), leaf)
        for step, child in flatten(tree)[0]
        for path, leaf in tree_leaves_with_path(child, is_leaf)
    ]


def tree_flatten_with_path(
    tree: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[Path, Any]], TreeSpec]:
    """Return the leaves, each after its path, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """Apply a function to the path of each leaf and the leaf, and return the tree of results.

    Args:
        func: takes a path, a leaf, and the corresponding leaves of the other trees.
        tree, rests, is_leaf: as in ``tree_map``.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_map_with_path(lambda path, x: f"{pytree.keystr(path)}={x}", {"a": 1})
        {'a': "['a']=1"}
    """
    paths = iter([path for path, _ in tree_leaves_with_path(tree, is_leaf)])
    return tree_map(lambda *leaves: func(next(paths), *leaves), tree, *rests, is_leaf=is_leaf)


# ---- questions ----------------------------------------------------------------------------------


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """Return the leaves of the arguments of a call."""
    return tree_leaves([*args, *kwargs.values()])


def tree_all_only(kinds: Any, pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return True if a predicate holds for all leaves of certain classes."""
    return all(map(pred, filter(_chosen(kinds), tree_leaves(tree))))


def tree_any_only(kinds: Any, pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return True if a predicate holds for some leaf of certain classes."""
    return any(map(pred, filter(_chosen(kinds), tree_leaves(tree))))


def tree_all(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return True if a predicate holds for all leaves.

    Args:
        pred: the predicate.
        tree: the tree.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_all(bool, [1, (2,)]), pytree.tree_any(bool, [0, (0,)])
        (True, False)
    """
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Return True if a predicate holds for some leaf.

    Args:
        pred: the predicate.
        tree: the tree.

    Example:
        >>> from tinynet.compat import pytree
        >>> pytree.tree_any(bool, [0, (1,)])
        True
    """
    return any(map(pred, tree_leaves(tree)))
