"""Models that a config can name, one file per family.

The exports are the types of ``[model]``; a class whose name ends in ``Loss`` is one of ``[loss]``.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.train.models.feedforward import GAN as GAN
    from tinynet.train.models.feedforward import VAE as VAE
    from tinynet.train.models.feedforward import VAELoss as VAELoss
    from tinynet.train.models.feedforward import cnn as cnn
    from tinynet.train.models.feedforward import mlp as mlp
    from tinynet.train.models.feedforward import sequential as sequential
    from tinynet.train.models.texts import GPT as GPT
    from tinynet.train.models.texts import LSTMLanguageModel as LSTMLanguageModel
    from tinynet.train.models.texts import SkipGram as SkipGram
    from tinynet.train.models.texts import TextClassifier as TextClassifier
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
