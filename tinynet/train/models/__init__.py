"""Models that a config can name, one file per family.

The exports are the types of ``[model]``; a class whose name ends in ``Loss`` is one of ``[loss]``.
"""

from tinynet.train.models.adversarial import GAN as GAN
from tinynet.train.models.autoencoder import VAE as VAE
from tinynet.train.models.autoencoder import VAELoss as VAELoss
from tinynet.train.models.convolutional import cnn as cnn
from tinynet.train.models.perceptron import mlp as mlp
from tinynet.train.models.recurrent import LSTMLanguageModel as LSTMLanguageModel
from tinynet.train.models.sequential import sequential as sequential
from tinynet.train.models.text_classifier import TextClassifier as TextClassifier
from tinynet.train.models.transformer import GPT as GPT
from tinynet.train.models.word_vectors import SkipGram as SkipGram
