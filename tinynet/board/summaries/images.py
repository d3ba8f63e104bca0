"""Images, videos and matplotlib figures: the Images tab."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.summaries import checks, pixels
from tinynet.board.summaries.family import Family
from tinynet.board.summaries.pixels import animated_png, lettered, png


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
        """Write an image.

        Args:
            tag: the name of the image.
            img_tensor: its pixels: uint8, or other numbers from 0 to 1; 1 to 4 channels (gray,
                gray and alpha, RGB, RGBA).
            global_step: the step; 0 by default.
            walltime: seconds since the epoch; now by default.
            dataformats: the order of the dimensions: `CHW`, `HWC`, `HW`, ...; with an `N`, the
                images of a batch form a grid with eight per row.

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
        """Write a batch of images as a grid; otherwise like `add_image`."""
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
        """Write an image with red rectangles.

        Args:
            tag: the name of the image.
            img_tensor: its pixels, as in `add_image`.
            box_tensor: rectangles in pixels: rows of x0, y0, x1, y1, from the upper left.
            global_step: the step; 0 by default.
            walltime: seconds since the epoch; now by default.
            rescale: a scale factor of the image.
            dataformats: the order of the dimensions.
            labels: a text for each rectangle, drawn in its lower left corner (with Pillow); a
                `str` labels a single rectangle. `rescale` does not change the size of letters.

        Raises:
            ModuleNotFoundError: there are labels, and Pillow is not installed.
            TypeError: `labels` has another type.
            ValueError: a shape is wrong, `rescale` is not positive, or the numbers of labels and
                rectangles differ.
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
        """Write a matplotlib figure, or several of the same size side by side, as an image.

        Args:
            tag: the name of the image.
            figure: the figure, or a list of figures.
            global_step: the step; 0 by default.
            close: close the figures afterwards, so that pyplot does not accumulate them.
            walltime: seconds since the epoch; now by default.

        Raises:
            TypeError: `figure` is not a figure.
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
        pyplot = sys.modules.get("matplotlib.pyplot")  # if not imported, it holds no figure
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
        """Write a batch of videos side by side, as an animated PNG.

        Args:
            tag: the name of the video.
            vid_tensor: its pixels, as in `add_image`: [N, T, C, H, W].
            global_step: the step; 0 by default.
            fps: frames per second.
            walltime: seconds since the epoch; now by default.

        Raises:
            ValueError: the shape is wrong, or `fps` is not positive.
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
    """Return the labels of `count` rectangles; none for None."""
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
    """Render a figure as uint8 [H, W, 3], without importing matplotlib."""
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
