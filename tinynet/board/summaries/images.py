"""Images, videos and matplotlib figures, audio clips and meshes: their three tabs."""

from __future__ import annotations

import io
import json
import sys
import wave
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.proto import varint
from tinynet.board.summaries import pixels
from tinynet.board.summaries.family import (
    Family,
    as_array,
    check_shape,
    check_tag,
    tensor_proto,
    type_name,
    walltime_or_now,
)
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
        check_tag(tag, "add_image")
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
        check_tag(tag, "add_images")
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
        check_tag(tag, method)
        if not rescale > 0:
            raise ValueError(
                f"The 'rescale' parameter of {method} must be > 0. Got {rescale} instead."
            )
        boxes = as_array(method, "box_tensor", box_tensor)
        check_shape(
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
        check_tag(tag, "add_figure")
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
        check_tag(tag, method)
        if not fps > 0:
            raise ValueError(f"The 'fps' parameter of {method} must be > 0. Got {fps} instead.")
        film = as_array(method, "vid_tensor", vid_tensor)
        good = film.ndim == 5 and film.size > 0 and film.shape[2] in (1, 2, 3, 4)
        check_shape(method, "vid_tensor", film.shape, good, "[N, T, C, H, W], C 1 to 4")
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
            f"Got {type_name(labels)} instead."
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
            f"Got {type_name(figure)} instead."
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


_LOUDEST = 32767
# Numbers of the kinds of arrays in the message MeshPluginData. tensorboardX lacks its field
# `components`, which has a bit for each kind present.
_KINDS = {"vertices": (1, "VERTEX"), "faces": (2, "FACE"), "colors": (3, "COLOR")}
_COMPONENTS = varint(7 << 3)
# The message AudioPluginData, which tensorboardX lacks, with its field `encoding`. The older
# format has no such field, and TensorBoard's fast loader loses the information that it is WAV.
_WAV = varint(2 << 3) + varint(11)


class Media(Family):
    """The methods of SummaryWriter for audio and meshes."""

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Write an audio clip, as 16-bit WAV.

        Args:
            tag: the name of the clip.
            snd_tensor: amplitudes from -1 to 1: [L] or [1, L]. Louder samples are clipped, with
                one `BoardWarning` per tag.
            global_step: the step; 0 by default.
            sample_rate: samples per second.
            walltime: seconds since the epoch; now by default.

        Raises:
            AssertionError: there is more than one channel, or no sample.
        """
        check_tag(tag, "add_audio")
        sound = as_array("add_audio", "snd_tensor", snd_tensor)
        if sound.size == 0 or sound.size != max(sound.shape, default=0):
            raise AssertionError(
                "input tensor should be 1 dimensional. The 'snd_tensor' of add_audio must "
                f"have the shape [L] or [1, L]. Got {list(sound.shape)} instead."
            )
        sound = sound.reshape(-1).astype(np.float64)
        if not (np.abs(sound) <= 1).all():
            self._doubt(tag, "some amplitudes are not within -1 and 1, and clipped")
        samples = (np.nan_to_num(np.clip(sound, -1, 1)) * _LOUDEST).astype("<i2")
        buffer = io.BytesIO()
        with wave.open(buffer, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(sample_rate)
            file.writeframes(samples.tobytes())
        pair = tensorboardx.load().TensorProto(  # a clip and its label
            dtype="DT_STRING",
            string_val=[buffer.getvalue(), b""],
            tensor_shape=tensorboardx.shape_proto((1, 2)),
        )
        metadata = tensorboardx.metadata("audio", _WAV)
        self._summary(tag, global_step, walltime, tensor=pair, metadata=metadata)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: dict[str, Any] | None = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write a 3D point cloud, or a mesh of triangles.

        Args:
            tag: the name of the mesh.
            vertices: the points: [B, N, 3].
            colors: the color of each point, from 0 to 255: [B, N, 3].
            faces: the indices of each triangle's points: [B, M, 3].
            config_dict: settings of ThreeJS: camera, material, lights.
            global_step: the step; 0 by default.
            walltime: seconds since the epoch; now by default.

        Raises:
            ValueError: a shape is wrong.
        """
        check_tag(tag, "add_mesh")
        given = {"vertices": vertices, "faces": faces, "colors": colors}
        arrays = {
            name: as_array("add_mesh", name, value)
            for name, value in given.items()
            if value is not None
        }
        for name, array in arrays.items():
            if array.ndim != 3 or array.shape[2] != 3:
                raise ValueError(
                    "Tensor shape should be of shape BxNx3, but got "
                    f"tinynet.Size({list(array.shape)}). {name!r} has it."
                )
        components = sum(1 << _KINDS[name][0] for name in arrays)
        config = json.dumps(config_dict or {}, sort_keys=True)
        when = walltime_or_now(walltime)
        for name, array in arrays.items():
            number, kind = _KINDS[name]
            data = tensorboardx.load().MeshPluginData(
                name=tag, content_type=number, shape=array.shape, json_config=config
            )
            content = data.SerializeToString() + _COMPONENTS + varint(components)
            metadata = tensorboardx.metadata("mesh", content)
            proto = tensor_proto(array.astype(np.float32))
            self._summary(f"{tag}_{kind}", global_step, when, tensor=proto, metadata=metadata)
