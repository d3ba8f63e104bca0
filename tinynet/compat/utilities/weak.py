"""``torch.utils.weak``: dictionaries whose keys are objects, compared by identity, held weakly."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from tinynet.core.tensors.tensor import Tensor

WeakRef = weakref.ref


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that is equal to others of the same object.

    Args:
        key: the object; it needs no hash and no equality.
        callback: called with the reference when the object is gone.

    Example:
        >>> from tinynet.compat.utilities import weak
        >>> x = tn.ones(2)
        >>> weak.WeakIdRef(x) == weak.WeakIdRef(x), weak.WeakIdRef(x) == weak.WeakIdRef(tn.ones(2))
        (True, False)
    """

    __slots__ = ("_id",)

    _id: int

    def __new__(cls, key: Any, callback: Callable[[Any], Any] | None = None) -> WeakIdRef:
        """Return a reference that keeps the object's identity."""
        made = super().__new__(cls, key, callback)
        made._id = id(key)
        return made

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, weakref.ref):
            return NotImplemented
        here = self()
        return self is other if here is None else here is other()


class TensorWeakRef:
    """A weak reference to a tensor.

    Args:
        tensor: the tensor.

    Example:
        >>> from tinynet.compat.utilities import weak
        >>> x = tn.ones(2)
        >>> weak.TensorWeakRef(x)() is x
        True
    """

    def __init__(self, tensor: Tensor):
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected a Tensor, got {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary by the identity of its keys; an entry goes with its key.

    Args:
        dict: the first entries.
        ref_type: the class of references to keys.

    Example:
        >>> from tinynet.compat.utilities import weak
        >>> x = tn.ones(2)
        >>> known = weak.WeakIdKeyDictionary({x: "x"})
        >>> known[x], tn.ones(2) in known, len(known)
        ('x', False, 1)
        >>> del x
        >>> len(known)
        0
    """

    def __init__(self, dict: Any = None, ref_type: type[WeakIdRef] = WeakIdRef):
        self.ref_type = ref_type
        self.data: Any = {}
        own = weakref.ref(self)

        def gone(reference: Any) -> None:
            if (here := own()) is not None:
                here.data.pop(reference, None)

        self._gone = gone
        self.update(dict or {})

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._gone)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return (key for reference in [*self.data] if (key := reference()) is not None)

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # no weak references to such objects
            return False

    def keyrefs(self) -> list[WeakIdRef]:
        """Return the references to the keys."""
        return [*self.data]

    def copy(self) -> WeakIdKeyDictionary:
        """Return a dictionary with the same entries."""
        return type(self)(self, ref_type=self.ref_type)

    __copy__ = copy


WeakTensorKeyDictionary = WeakIdKeyDictionary
