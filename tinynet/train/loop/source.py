"""What the trainer asks of a data set besides its examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol


class DataSource(Protocol):
    """The members of a data set that the trainer uses where a data set has them.

    Each may be missing, so a data set needs only ``__len__`` and ``__getitem__``. A subset
    (`data.Subset`) has those of its data set.
    """

    def own_split(self) -> tuple[list[int], ...] | None:
        """Return the indices for training, validation and test; two lists are without validation.

        None leaves the split to the config.
        """

    def divided(self, train: list[int], other: list[int], state: Any) -> tuple[Any, Any]:
        """Return the training set and the set to measure on, given their indices.

        They can differ: one without augmentation, one scaled as the other. ``state`` is what the
        training set has learned in an earlier run, or None.
        """

    def column(self, name: str) -> Sequence[str]:
        """Return the values of a column that is no feature, for ``data.test_by``."""

    def location(self, index: int) -> str:
        """Return where an example comes from, for messages: its file."""

    @property
    def in_order(self) -> bool:
        """Whether the examples stand in the order of time, so that the last ones are held out."""

    @property
    def fingerprint(self) -> str:
        """A text that changes with the data, in place of a hash of some examples."""

    @property
    def preprocessing(self) -> Any:
        """What was learned from the training part, with `state_dict`; such as means and scales."""

    @property
    def targets(self) -> Any:
        """The targets of all examples, to find their classes without loading the inputs."""

    @property
    def labels(self) -> Any:
        """Another name of `targets`."""

    @property
    def classes(self) -> Sequence[str]:
        """The names of the classes."""

    @property
    def feature_names(self) -> Sequence[str]:
        """The names of the numbers of an input."""

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The channels, height and width of inputs that are flattened images."""

    @property
    def loader(self) -> Callable[[str], Any]:
        """Returns the image in a file; for predictions from files."""

    @property
    def transform(self) -> Callable[[Any], Any]:
        """Turns what `loader` returns into an input."""

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of texts, which a run keeps."""

    @property
    def vocabulary(self) -> Sequence[str] | Mapping[str, int]:
        """The words in the order of their indices, which a run keeps."""


def dataset_attribute(examples: Any, name: str, default: Any = None) -> Any:
    """Return a member of a data set, or of the data set that it is a subset of.

    Args:
        examples: the data set.
        name: the name of a member, mostly one of `DataSource`.
        default: the result where there is none.
    """
    while examples is not None:
        if hasattr(examples, name):
            return getattr(examples, name)
        examples = getattr(examples, "dataset", None)
    return default


def class_names(examples: Any) -> Sequence[str]:
    """Return the names of a data set's classes; empty if they are not a list of names."""
    found = dataset_attribute(examples, "classes")
    return found if isinstance(found, list | tuple) else ()
