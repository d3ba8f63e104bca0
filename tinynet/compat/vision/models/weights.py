"""Trained weights by their names in torchvision. Their files must have been downloaded before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from tinynet.compat.hub import load_state_dict_from_url
from tinynet.compat.vision.pillow import InterpolationMode
from tinynet.compat.vision.transforms import functional as F
from tinynet.core.tensors.tensor import Tensor
from tinynet.nn import Module

M = TypeVar("M", bound=Module)
FOLDER = "https://download.pytorch.org/models/"


class ImageClassification(Module):
    """The preprocessing that ImageNet's weights need: resize, crop, scale and normalize.

    Args:
        crop_size: the height and width of the result.
        resize_size: the length of the shorter side before the crop.
        mean, std: for ``normalize``.
        interpolation: for ``resize``.
    """

    def __init__(
        self,
        *,
        crop_size: int,
        resize_size: int = 256,
        mean: tuple[float, ...] = (0.485, 0.456, 0.406),
        std: tuple[float, ...] = (0.229, 0.224, 0.225),
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
    ):
        super().__init__()
        self.crop_size, self.resize_size = [crop_size], [resize_size]
        self.mean, self.std, self.interpolation = list(mean), list(std), interpolation

    def __repr__(self) -> str:
        values = {
            "crop_size": self.crop_size,
            "resize_size": self.resize_size,
            "mean": self.mean,
            "std": self.std,
            "interpolation": self.interpolation,
        }
        lines = "".join(f"\n    {name}={value}" for name, value in values.items())
        return f"ImageClassification({lines}\n)"

    def forward(self, img: Any) -> Tensor:
        """Return a Pillow image or a tensor as the input of a network."""
        img = F.resize(img, self.resize_size, self.interpolation)
        img = F.center_crop(img, self.crop_size)
        if not isinstance(img, Tensor):
            img = F.pil_to_tensor(img)
        return F.normalize(F.convert_image_dtype(img), self.mean, self.std)


class WeightsEnum(Enum):
    """Base class of the weights of an architecture.

    Attributes:
        url: the file's address; it is not contacted.
        transforms: makes the preprocessing.
        meta: facts about the weights.
    """

    @property
    def url(self) -> str:
        """The file's address."""
        return FOLDER + self.value

    @property
    def transforms(self) -> Callable[[], ImageClassification]:
        """A function that makes the preprocessing."""
        size = 232 if self.name == "IMAGENET1K_V2" else 256
        return lambda: ImageClassification(crop_size=224, resize_size=size)

    @property
    def meta(self) -> Mapping[str, Any]:
        """Facts about the weights."""
        return {"num_classes": 1000, "min_size": (1, 1)}

    @classmethod
    def verify(cls, value: Any) -> Any:
        """Return weights for themselves or their name; None for None.

        Raises:
            TypeError: they belong to another architecture.
            KeyError: no weights have that name.
        """
        if isinstance(value, str):
            return cls[value.rpartition(".")[2]]
        if value is not None and not isinstance(value, cls):
            raise TypeError(
                f"Invalid Weight class provided; expected {cls.__name__} but received "
                f"{type(value).__name__}."
            )
        return value

    def get_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the weights from the file.

        Raises:
            FileNotFoundError: it does not exist; the message has its address and its place.
        """
        return load_state_dict_from_url(self.url, *args, **kwargs)


def weights_of(name: str, files: Mapping[str, str], default: str = "") -> type[WeightsEnum]:
    """Return the weights of an architecture, from names and files; by default, the last is best."""
    make: Any = WeightsEnum  # Enum's functional form, which type checkers know for literals only
    made: type[WeightsEnum] = make(name, {**files, "DEFAULT": files[default or [*files][-1]]})
    return made


def built(
    make: Callable[..., M],
    kinds: type[WeightsEnum],
    weights: Any,
    progress: bool,
    options: dict[str, Any],
) -> M:
    """Return a network, with weights if they are given.

    Args:
        make: makes the network from the options.
        kinds: the weights that it may have.
        weights: one of them, or its name.
        progress: without effect.
        options: of the network; ``pretrained`` is an older name of the first weights.

    Raises:
        FileNotFoundError: the file of the weights does not exist; the message has its place.
        ValueError: the weights have another number of classes.
    """
    if options.pop("pretrained", False):
        weights = next(iter(kinds))
    chosen = kinds.verify(weights)
    if chosen is None:
        return make(**options)
    if options.setdefault("num_classes", 1000) != 1000:
        raise ValueError(
            "The parameter 'num_classes' expected value 1000 but got "
            f"{options['num_classes']} instead."
        )
    if "init_weights" in options:
        options["init_weights"] = False
    net = make(**options)
    net.load_state_dict(chosen.get_state_dict(progress=progress))
    return net


def constructor(name: str, network: str, make: Callable[..., M], kinds: type[WeightsEnum]) -> Any:
    """Return the function that makes a network, with weights if they are given.

    Args:
        name: the function's name.
        network: the name of the class that documents the options.
        make, kinds: as of ``built``.
    """

    def construct(*, weights: Any = None, progress: bool = True, **kwargs: Any) -> M:
        return built(make, kinds, weights, progress, kwargs)

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = f"""Return {name}; see ``{network}`` for the options.

    Args:
        weights: ``{kinds.__name__}.DEFAULT``, its name, or None.
        progress: without effect.
        **kwargs: the options of ``{network}``.

    Raises:
        FileNotFoundError: the file of the weights does not exist; the message has its place.
    """
    return construct
