"""Embeddings with labels and images: the Projector tab.

The projector reads files in the folder of the run instead of events: `projector_config.pbtxt` lists
for each embedding its vectors, its labels and an image that contains all images (the "sprite").
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet.board.summaries import pixels
from tinynet.board.summaries.family import Family, as_array, as_step, check_shape, check_tag
from tinynet.board.summaries.pixels import png

CONFIG = "projector_config.pbtxt"
_LARGEST_SPRITE = 8192  # pixels on a side; the limit of the browser
_BLOCK = re.compile(r"^embeddings \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'^ *tensor_name: ("(?:[^"\\]|\\.)*")', re.MULTILINE)


class Embeddings(Family):
    """The method of SummaryWriter for embeddings."""

    _projected: dict[str, str] | None

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Write vectors for the projector, which displays them in two or three dimensions.

        Args:
            mat: one row per point: [N, D].
            metadata: a label per point, or with a header a list of columns per point.
            label_img: an image per point, with colors as in `add_image`: [N, C, H, W].
            global_step: the step; 0 by default.
            tag: the name of the embedding.
            metadata_header: the names of the columns of `metadata`.

        Raises:
            AssertionError: shapes or numbers of points do not match.
            ValueError: the images have a wrong shape, or are too large.

        Example:
            >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
            >>> from tinynet.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/example") as writer:
            ...     writer.add_embedding(tn.randn(3, 5), metadata=["a", "b", "c"])
        """
        method = "add_embedding"
        check_tag(tag, method)
        vectors = as_array(method, "mat", mat)
        if vectors.ndim != 2 or vectors.size == 0:
            raise AssertionError(
                "mat should be 2D, where mat.size(0) is the number of data points. "
                f"Got the shape {list(vectors.shape)}."
            )
        step = as_step(0 if global_step is None else global_step, tag)
        folder, name = f"{step:05d}/{_folder(tag)}", f"{tag}:{step:05d}"
        paths = {"tensor_path": f"{folder}/tensors.tsv"}
        files = {paths["tensor_path"]: _vectors(vectors)}
        if metadata is not None:
            paths["metadata_path"] = f"{folder}/metadata.tsv"
            files[paths["metadata_path"]] = _metadata(metadata, metadata_header, len(vectors))
        size = None
        if label_img is not None:
            paths["sprite"] = f"{folder}/sprite.png"
            files[paths["sprite"]], size = _sprite(label_img, len(vectors))
        self._store(files | {CONFIG: self._configured(name, _block(name, paths, size))})

    def _configured(self, name: str, block: str) -> bytes:
        """Return the configuration with one more embedding, keeping a resumed run's."""
        if self._projected is None:
            self._projected = _read_blocks(os.path.join(self.log_dir, CONFIG))
        self._projected[name] = block
        return "".join(self._projected.values()).encode()


def _read_blocks(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return {}
    found = {}
    for block in _BLOCK.findall(text):
        name = _NAME.search(block)
        if name is not None:
            found[json.loads(name[1], strict=False)] = block
    return found


def _block(name: str, paths: dict[str, str], size: tuple[int, int] | None) -> str:
    """Return one embedding in protobuf's text format, whose strings are written as in JSON."""
    lines = [f"tensor_name: {_quoted(name)}"]
    lines += [f"{key}: {_quoted(path)}" for key, path in paths.items() if key != "sprite"]
    if size is not None:
        height, width = size
        lines += ["sprite {", f"  image_path: {_quoted(paths['sprite'])}"]
        lines += [f"  single_image_dim: {width}", f"  single_image_dim: {height}", "}"]
    return "".join(["embeddings {\n", *(f"  {line}\n" for line in lines), "}\n"])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _folder(tag: str) -> str:
    """Return a tag as the name of one folder; `%` and slashes are escaped as in URLs."""
    for letter in "%/\\":
        tag = tag.replace(letter, f"%{ord(letter):02x}")
    return tag


def _vectors(vectors: np.ndarray[Any, Any]) -> bytes:
    return _table(vectors.tolist())


def _metadata(rows: Sequence[Any], header: Sequence[str] | None, count: int) -> bytes:
    if len(rows) != count:
        raise AssertionError(
            f"#labels should equal with #data points. Got {len(rows)} and {count}."
        )
    if not header:
        return _table([[row] for row in rows])
    if any(len(row) != len(header) for row in rows):
        raise AssertionError("len of header must be equal to the number of columns in metadata")
    return _table([header, *rows])


def _table(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return tab-separated lines; tabs and line breaks within a field become spaces."""
    lines = ("\t".join(re.sub(r"[\t\r\n]", " ", str(field)) for field in row) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _sprite(images: Any, count: int) -> tuple[bytes, tuple[int, int]]:
    """Return the images in a square grid, and the height and width of each."""
    array = as_array("add_embedding", "label_img", images)
    good = array.ndim == 4 and array.size > 0 and array.shape[1] in (1, 2, 3, 4)
    check_shape("add_embedding", "label_img", array.shape, good, "[N, C, H, W], C 1 to 4")
    if len(array) != count:
        raise AssertionError(
            f"#images should equal with #data points. Got {len(array)} and {count}."
        )
    side = math.isqrt(count - 1) + 1
    height, width = array.shape[2:]
    if side * max(height, width) > _LARGEST_SPRITE:
        raise ValueError(
            f"The 'label_img' parameter of add_embedding must fit into {_LARGEST_SPRITE} pixels on "
            f"a side, {side} pictures in a row. Got pictures of {height} x {width}."
        )
    square = np.zeros((side * side, *array.shape[1:]), np.uint8)
    square[:count] = pixels.in_bytes(array)
    return png(pixels.grid(square.transpose(0, 2, 3, 1), side)), (height, width)
