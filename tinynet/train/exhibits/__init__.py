"""Exhibits: what TensorBoard shows after each evaluation, named by ``evaluation.show``."""

from tinynet.train.exhibits.decision_boundary import DecisionBoundary as DecisionBoundary
from tinynet.train.exhibits.exhibit import Exhibit as Exhibit
from tinynet.train.exhibits.generated_images import GeneratedImages as GeneratedImages
from tinynet.train.exhibits.reconstructions import Reconstructions as Reconstructions
from tinynet.train.exhibits.sampled_text import SampledText as SampledText
from tinynet.train.exhibits.word_vectors import Neighbours as Neighbours
from tinynet.train.exhibits.word_vectors import Projector as Projector
from tinynet.train.loop.callback import Moment as Moment
from tinynet.train.loop.callback import dataset_attribute as dataset_attribute
