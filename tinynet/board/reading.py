"""Reading back what event files contain: curves, images and texts."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinynet.board import tensorboardx
from tinynet.board.storage import PREFIX


@dataclass
class Logged:
    """The values of the event files in a folder, by tag; a step that was repeated counts once."""

    scalars: dict[str, dict[int, float]] = field(default_factory=dict)
    """The curves: step -> value."""

    images: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """The last image of each tag: its step, and its PNG file."""

    texts: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The last text of each tag, with its step."""

    def add(self, step: int, value: Any) -> None:
        """Add a value of an event."""
        kind = value.WhichOneof("value")
        if kind == "simple_value":
            self.scalars.setdefault(value.tag, {})[step] = value.simple_value
        elif kind == "image":
            self.images[value.tag] = step, value.image.encoded_image_string
        elif kind == "tensor" and value.metadata.plugin_data.plugin_name == "text":
            tag = value.tag.removesuffix("/text_summary")
            self.texts[tag] = step, b"\n".join(value.tensor.string_val).decode(errors="replace")


def read_events(folder: str | os.PathLike[str]) -> Logged:
    """Read the event files of a folder, in the order in which they were written.

    A file that ends within a record, as after a power failure, is read up to there.

    Args:
        folder: the folder, without those inside it.

    Raises:
        OSError: a file cannot be read.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> with tn.board.SummaryWriter(folder) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 1 / 2**step, step)
        >>> read_events(folder).scalars
        {'loss': {0: 1.0, 1: 0.5, 2: 0.25}}
    """
    found = Logged()
    parse = tensorboardx.load().Event.FromString
    for path in sorted(Path(folder).glob(f"{PREFIX}*")):
        for _, record in _records(path.read_bytes()):
            event = parse(record)
            for value in event.summary.value:
                found.add(event.step, value)
    return found


def sizes_before(
    folder: str | os.PathLike[str], is_later: Callable[[str, int], bool]
) -> dict[str, int]:
    """Return the number of bytes before the first later event, by the names of the event files.

    Args:
        folder: the folder, without those inside it.
        is_later: returns whether a value with this tag and step is later. Files after that of the
            first such value are left out.

    Raises:
        OSError: a file cannot be read.
    """
    sizes = {}
    parse = tensorboardx.load().Event.FromString
    for path in sorted(Path(folder).glob(f"{PREFIX}*")):
        data = path.read_bytes()
        sizes[path.name] = len(data)
        for start, record in _records(data):
            event = parse(record)
            if any(is_later(value.tag, event.step) for value in event.summary.value):
                sizes[path.name] = start
                return sizes
    return sizes


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield start and content of the records: length, checksum, content, checksum."""
    start = 0
    while start + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, start)
        if start + 16 + length > len(data):
            return
        yield start, data[start + 12 : start + 12 + length]
        start += 16 + length
