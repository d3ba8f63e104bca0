"""What the model of a run takes for predictions: one class for each kind of inputs."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.train.prediction.answers import Writing as Writing
    from tinynet.train.prediction.trained import Trained as Trained
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
