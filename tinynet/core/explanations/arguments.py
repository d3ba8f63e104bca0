"""Keyword arguments that a class does not take: the error names the one that was meant."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tinynet.core.explanations.aliases import aliased
from tinynet.errors import with_fix


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word for what others call a word, or else the most similar one, or None.

    Of several words that contain it, the shortest is returned.

    Example:
        >>> from tinynet.core.explanations.arguments import nearest
        >>> nearest("cosine", ["StepLR", "CosineAnnealingWarmRestarts", "CosineAnnealingLR"])
        'CosineAnnealingLR'
        >>> nearest("learning_rate", ["params", "lr", "momentum"])
        'lr'
    """
    by_lower = {name.lower(): name for name in known}
    word = word.lower()
    near = [name.lower() for name in aliased(word, by_lower.values())]
    near += difflib.get_close_matches(word, by_lower, n=1, cutoff=0.8)
    near += sorted((name for name in by_lower if _is_part(word, name)), key=len)
    near += difflib.get_close_matches(word, by_lower, n=1, cutoff=0.6)
    near += [name for name in by_lower if len(name) > 2 and word.startswith(name)]
    return by_lower[near[0]] if near else None


def _is_part(word: str, name: str) -> bool:
    return len(word) > 4 and word in name or len(word) > 2 and name.startswith(word)


class _OfInit:
    """The signature of a class without an ``__init__``: ``()``, which ``__new__`` would hide."""

    def __get__(self, instance: object, cls: Any) -> inspect.Signature | None:
        bare = cls.__init__ is object.__init__ and cls.__new__ is ChecksArguments.__new__
        return inspect.Signature() if instance is None and bare else None  # None: as of any class


class ChecksArguments:
    """Base of the classes that users construct."""

    if not TYPE_CHECKING:  # type checkers read ``__init__``

        def __new__(cls, /, *args: Any, **kwargs: Any) -> Any:
            """Make an instance.

            Raises:
                TypeError: ``__init__`` does not take one of the keyword arguments.
            """
            if kwargs:
                _refuse_unknown(cls, kwargs)
            make = super().__new__
            return make(cls) if make is object.__new__ else make(cls, *args, **kwargs)

        __signature__ = _OfInit()


def _refuse_unknown(cls: type, kwargs: dict[str, Any]) -> None:
    init: Any = cls.__init__  # type: ignore[misc]  # of the class, for its code
    code = getattr(init, "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return
    taken = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    unknown = next((name for name in kwargs if name not in taken), None)
    if unknown is not None:
        bases = [base.__name__ for base in cls.__mro__ if getattr(base, "__init__", None) is init]
        public = [name for name in bases if name[0] != "_"] or bases
        sentence = f"{public[-1]}.__init__() got an unexpected keyword argument {unknown!r}"
        raise TypeError(meant(sentence, taken))


def meant(sentence: str, taken: Iterable[str]) -> str:
    """Add the argument that was meant to Python's sentence about one that is unknown."""
    found = re.search(r"got an unexpected keyword argument '(\w+)'$", sentence)
    near = nearest(found[1], taken) if found else None
    return with_fix(sentence, f"did you mean {near!r}?") if near else sentence
