"""Lists and dicts that are arguments of nodes, and do not change."""

from __future__ import annotations

from typing import Any

__all__ = ["immutable_list", "immutable_dict"]


class immutable_list(list[Any]):  # noqa: N801  # PyTorch's name
    """A list in a node's arguments: changing it would not update the users of its nodes."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{type(self).__name__!r} object does not support mutation. If you are attempting to "
            "modify the kwargs or args of a torch.fx.Node object,\ninstead create a new copy of it "
            "and assign the copy to the node:\n\n    new_args = ...  # copy and mutate args\n"
            "    node.args = new_args"
        )

    __delitem__ = __setitem__ = __iadd__ = __imul__ = append = _refuse
    clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_list, ([*self],)

    def __hash__(self) -> int:  # type: ignore[override]  # as PyTorch's
        return hash(tuple(self))


class immutable_dict(dict[str, Any]):  # noqa: N801  # PyTorch's name
    """A dict in a node's arguments."""

    __delitem__ = __setitem__ = __ior__ = clear = immutable_list._refuse
    pop = popitem = setdefault = update = immutable_list._refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_dict, ({**self},)
