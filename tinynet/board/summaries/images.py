"""Pictures, films and drawings of matplotlib: the Images tab."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.summaries import checks, pixels
from tinynet.board.summaries.family import Family
from tinynet.board.summaries.lettering import lettered
from tinynet.board.summaries.png import animated_png, png


class Images(Family):
    """The methods of SummaryWriter for pictures."""

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Write a picture.

        Args:
            tag: its name.
            img_tensor: its colours: uint8, or any other numbers from 0 to 1; 1 to 4 channels
                (grey, grey and alpha, RGB, RGBA).
            global_step: its step; 0 unless given.
            walltime: seconds since the epoch; now unless given.
            dataformats: the order of the dimensions: `CHW`, `HWC`, `HW`, ...; with an `N`, the
                pictures of a batch stand side by side, eight in a row.

        Raises:
            ValueError: shape and `dataformats` do not fit each other.

        Example:
            >>> getfixture("monkeypatch").chdir(getfixture("tmp_path"))
            >>> from tinynet.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/example") as writer:
            ...     writer.add_image("noise", tn.rand(3, 8, 8))
        """
        checks.check_tag(tag, "add_image")
        picture = pixels.picture("add_image", img_tensor, dataformats)
        self._summary(tag, global_step, walltime, image=_still(picture))

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Write a batch of pictures as one, side by side; the rest is as in `add_image`."""
        checks.check_tag(tag, "add_images")
        picture = pixels.picture("add_images", img_tensor, dataformats)
        self._summary(tag, global_step, walltime, image=_still(picture))

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """Write a picture with red rectangles.

        Args:
            tag: its name.
            img_tensor: its colours, as in `add_image`.
            box_tensor: rectangles in pixels: rows of x0, y0, x1, y1, from the upper left.
            global_step: its step; 0 unless given.
            walltime: seconds since the epoch; now unless given.
            rescale: a factor to the size.
            dataformats: the order of the dimensions.
            labels: a text for each rectangle, written in its lower left corner (with Pillow); a
                `str` is that of a single one. Letters keep their size whatever `rescale` is.

        Raises:
            ModuleNotFoundError: there are labels, and Pillow is not installed.
            TypeError: `labels` is something else.
            ValueError: a shape is wrong, `rescale` is not positive, or there are not as many labels
                as rectangles.
        """
        method = "add_image_with_boxes"
        checks.check_tag(tag, method)
        if not rescale > 0:
            raise ValueError(
                f"The 'rescale' parameter of {method} must be > 0. Got {rescale} instead."
            )
        boxes = checks.array(method, "box_tensor", box_tensor)
        checks.check_shape(
            method, "box_tensor", boxes.shape, boxes.ndim == 2 and boxes.shape[1] == 4, "[N, 4]"
        )
        words = _labels(labels, len(boxes))
        picture = pixels.with_boxes(pixels.picture(method, img_tensor, dataformats), boxes)
        picture = pixels.resized(picture, rescale)
        for text, corners in zip(words, np.nan_to_num(boxes) * rescale, strict=False):
            if text.strip():
                pixels.with_label(picture, lettered(text), corners[0], corners[3] + rescale)
        self._summary(tag, global_step, walltime, image=_still(picture))

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Write a figure of matplotlib, or several of the same size side by side, as a picture.

        Args:
            tag: its name.
            figure: the figure, or a list of them.
            global_step: its step; 0 unless given.
            close: close the figures afterwards, so that pyplot does not collect them.
            walltime: seconds since the epoch; now unless given.

        Raises:
            TypeError: it is no figure.
            ValueError: the figures differ in size.
        """
        checks.check_tag(tag, "add_figure")
        figures = figure if isinstance(figure, list) else [figure]
        drawn = [_drawn(one) for one in figures]
        if len({picture.shape for picture in drawn}) != 1:
            sizes = [picture.shape[:2] for picture in drawn]
            raise ValueError(f"The figures of {tag!r} must have one size. Got {sizes} instead.")
        self._summary(
            tag, global_step, walltime, image=_still(pixels.grid(np.stack(drawn), columns=8))
        )
        pyplot = sys.modules.get("matplotlib.pyplot")  # if nobody imported it, it holds no figure
        if close and pyplot is not None:
            for one in figures:
                pyplot.close(one)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: int | None = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Write a batch of films as one picture that moves, side by side, as an animated PNG.

        Args:
            tag: its name.
            vid_tensor: its colours, as in `add_image`: [N, T, C, H, W].
            global_step: its step; 0 unless given.
            fps: frames per second.
            walltime: seconds since the epoch; now unless given.

        Raises:
            ValueError: the shape is another, or `fps` is not positive.
        """
        method = "add_video"
        checks.check_tag(tag, method)
        if not fps > 0:
            raise ValueError(f"The 'fps' parameter of {method} must be > 0. Got {fps} instead.")
        film = checks.array(method, "vid_tensor", vid_tensor)
        good = film.ndim == 5 and film.size > 0 and film.shape[2] in (1, 2, 3, 4)
        checks.check_shape(method, "vid_tensor", film.shape, good, "[N, T, C, H, W], C 1 to 4")
        columns = int(np.ceil(np.sqrt(len(film))))
        frames = pixels.in_bytes(film).transpose(1, 0, 3, 4, 2)
        tiled = np.stack([pixels.grid(frame, columns) for frame in frames])
        self._summary(tag, global_step, walltime, image=_image(tiled[0], animated_png(tiled, fps)))


def _labels(labels: Any, count: int) -> list[str]:
    """The labels of `count` rectangles; none for None."""
    if labels is None:
        return []
    texts = [labels] if isinstance(labels, str) else labels
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise TypeError(
            "The 'labels' parameter of add_image_with_boxes must be a list of str. "
            f"Got {checks.kind(labels)} instead."
        )
    if len(texts) != count:
        raise ValueError(
            "The 'labels' parameter of add_image_with_boxes must have one text for each of the "
            f"{count} boxes. Got {len(texts)} instead."
        )
    return list(texts)


def _still(picture: np.ndarray[Any, Any]) -> Any:
    return _image(picture, png(picture))


def _image(picture: np.ndarray[Any, Any], encoded: bytes) -> Any:
    height, width, channels = picture.shape
    return tensorboardx.load().Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=encoded
    )


def _drawn(figure: Any) -> np.ndarray[Any, Any]:
    """A figure as uint8 [H, W, 3]. It draws itself: nothing of matplotlib is imported here."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is None or not callable(getattr(figure, "savefig", None)):
        raise TypeError(
            "The 'figure' parameter of add_figure must be a figure of matplotlib. "
            f"Got {checks.kind(figure)} instead."
        )
    buffer = io.BytesIO()
    with matplotlib.rc_context({"savefig.bbox": "standard"}):  # notebooks set it to "tight"
        figure.savefig(buffer, format="rgba", dpi=figure.dpi)
    colours = np.frombuffer(buffer.getvalue(), np.uint8)
    for rule in (round, int):  # 114.999...: versions of matplotlib differ
        width, height = (rule(size) for size in figure.bbox.size)
        if width * height * 4 == colours.size:
            break
    return colours.reshape(height, width, 4)[:, :, :3]
