"""Audio clips and 3D meshes: the Audio and Mesh tabs."""

from __future__ import annotations

import io
import json
import wave
from typing import Any

import numpy as np

from tinynet.board import tensorboardx
from tinynet.board.proto import varint
from tinynet.board.summaries import checks
from tinynet.board.summaries.family import Family, tensor_proto

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
        checks.check_tag(tag, "add_audio")
        sound = checks.array("add_audio", "snd_tensor", snd_tensor)
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
        checks.check_tag(tag, "add_mesh")
        given = {"vertices": vertices, "faces": faces, "colors": colors}
        arrays = {
            name: checks.array("add_mesh", name, value)
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
        when = checks.now(walltime)
        for name, array in arrays.items():
            number, kind = _KINDS[name]
            data = tensorboardx.load().MeshPluginData(
                name=tag, content_type=number, shape=array.shape, json_config=config
            )
            content = data.SerializeToString() + _COMPONENTS + varint(components)
            metadata = tensorboardx.metadata("mesh", content)
            proto = tensor_proto(array.astype(np.float32))
            self._summary(f"{tag}_{kind}", global_step, when, tensor=proto, metadata=metadata)
