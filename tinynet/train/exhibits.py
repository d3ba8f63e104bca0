"""Exhibits: what TensorBoard shows after each evaluation, named by ``evaluation.show``."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinynet import nn
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.data import CharTokenizer, Tokenizer
from tinynet.dtypes import Array
from tinynet.train.loop.callback import Callback, Moment
from tinynet.train.outputs import are_images, generate_text, grid
from tinynet.train.step.task import shape_of

# ---- exhibit ------------------------------------------------------------------------------------
# The base class of exhibits.


def require_positive(owner: str, **values: int) -> None:
    """Check the arguments of an exhibit.

    Raises:
        ValueError: if a value is less than 1.
    """
    for name, value in values.items():
        if value < 1:
            raise ValueError(
                f"The '{name}' parameter of {owner} must be >= 1. Got {value} instead."
            )


class Exhibit(Callback, ABC):
    """The base class of exhibits: callbacks that show something after each evaluation.

    A user's class with a method `show` need not derive from it. Random numbers are the same at each
    evaluation, so an exhibit can draw points or latent vectors again instead of storing them.
    """

    @abstractmethod
    def show(self, at: Moment) -> None:
        """Write something with ``at.writer``.

        Raises:
            ValueError: if the model or the data do not suit the exhibit; the message says what they
                should be. The trial before training calls `show` once.
        """

    def on_evaluation_end(self, at: Moment) -> None:
        """Show it."""
        self.show(at)


# ---- decision boundary --------------------------------------------------------------------------
# The decision boundary of a classifier of points in the plane.


_COLOURS = np.array(
    [
        (0, 114, 178),
        (230, 126, 0),
        (0, 158, 115),
        (204, 51, 102),
        (120, 80, 180),
        (140, 110, 60),
        (60, 180, 220),
        (230, 190, 20),
        (110, 110, 110),
        (150, 30, 30),
    ],
    float,
)
_PAPER = 255.0
_TINT = 0.55
"""The strength of the class colours in the plane, relative to the points'."""

_ENLARGED = 2
"""The number of pixels per side for each evaluated place."""

_ROWS_AT_ONCE = 4096


class DecisionBoundary(Exhibit):
    """The plane coloured by class probabilities, with the points of the validation set.

    Inputs must have two numbers. Colours mix where the model is uncertain. The points are the first
    of the validation set, in the colours of their classes.

    Args:
        points: the maximum number of points.
        resolution: the number of evaluated places per side.
        tag: the name in TensorBoard, by default ``val/decision_boundary``, or ``test/...`` without
            a validation set.

    Raises:
        ValueError: if inputs are not (batch, 2), outputs not (batch, classes) or one logit per
            example, or there are more than ten classes.
    """

    def __init__(self, points: int = 300, resolution: int = 160, tag: str = "") -> None:
        require_positive("DecisionBoundary", points=points, resolution=resolution)
        self.points = points
        self.resolution = resolution
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the image."""
        at.picture(
            self.tag or at.tag("decision_boundary"), self.draw(at.model, *at.examples(self.points))
        )

    def draw(self, model: nn.Module, inputs: Any, targets: Any) -> Array:
        """Return the image: (height, width, 3) bytes, both sides twice the resolution."""
        if not isinstance(inputs, Tensor) or inputs.ndim != 2 or inputs.shape[1] != 2:
            raise ValueError(f"inputs must be points (batch, 2), are {shape_of(inputs)}")
        points = inputs.numpy().astype(float)
        middle = (points.min(0) + points.max(0)) / 2
        reach = float(np.ptp(points, axis=0).max()) * 0.55 or 1.0
        shares = self._shares(model, middle, reach, inputs.numpy().dtype)
        colours = shares @ _COLOURS[: shares.shape[1]]
        plane = (_PAPER + _TINT * (colours - _PAPER)).round().astype(np.uint8)
        canvas = plane.reshape(self.resolution, self.resolution, 3)
        canvas = canvas.repeat(_ENLARGED, axis=0).repeat(_ENLARGED, axis=1)
        places = (points - middle) / reach * (1, -1) * 0.5 + 0.5  # the second number goes upwards
        classes = _classes(targets, len(points), shares.shape[1])
        _draw_dots(canvas, (places * (len(canvas) - 1)).round().astype(int), _COLOURS[classes])
        return canvas

    def _shares(self, model: nn.Module, middle: Array, reach: float, dtype: Any) -> Array:
        """Return the class probabilities at each place, row by row from the top left."""
        steps = np.linspace(-reach, reach, self.resolution)
        across, down = np.meshgrid(middle[0] + steps, middle[1] - steps)
        places = np.stack([across.ravel(), down.ravel()], 1).astype(dtype)
        parts = [
            _probabilities(model(wrap(places[first : first + _ROWS_AT_ONCE])))
            for first in range(0, len(places), _ROWS_AT_ONCE)
        ]
        return np.concatenate(parts)


def _probabilities(outputs: Any) -> Array:
    """Return probabilities (batch, classes) from logits; a single one belongs to class 1."""
    if not isinstance(outputs, Tensor) or outputs.ndim not in (1, 2):
        raise ValueError(f"outputs must be (batch, classes), are {shape_of(outputs)}")
    logits = outputs.detach().numpy().astype(float)
    if logits.ndim == 1 or logits.shape[1] == 1:
        logits = np.stack([np.zeros(len(logits)), logits.reshape(-1)], 1)
    if logits.shape[1] > len(_COLOURS):
        raise ValueError(f"there are colours for {len(_COLOURS)} classes, not {logits.shape[1]}")
    powers = np.exp(logits - logits.max(1, keepdims=True))
    shares: Array = powers / powers.sum(1, keepdims=True)
    return shares


def _classes(targets: Any, count: int, most: int) -> Array:
    """Return the class of each point, clipped to the classes of the model."""
    if not isinstance(targets, Tensor) or targets.numel() != count:
        raise ValueError(f"targets must be a class for each point, are {shape_of(targets)}")
    classes: Array = targets.numpy().reshape(-1).round().astype(np.int64).clip(0, most - 1)
    return classes


def _draw_dots(canvas: Array, places: Array, colours: Array) -> None:
    """Draw dots of 5 pixels with a white edge, in order."""
    offsets = np.arange(-3, 4)
    squares = offsets[:, None] ** 2 + offsets[None, :] ** 2
    for radius, paint in ((11, np.full_like(colours, _PAPER)), (5, colours)):
        ys, xs = np.nonzero(squares <= radius)
        rows = (places[:, 1, None] + offsets[ys]).clip(0, len(canvas) - 1)
        columns = (places[:, 0, None] + offsets[xs]).clip(0, len(canvas) - 1)
        canvas[rows, columns] = paint[:, None].astype(np.uint8)


# ---- generated images ---------------------------------------------------------------------------
# Images generated by a model.


class GeneratedImages(Exhibit):
    """Samples of a generative model: the images from ``model.samples(count)`` in a grid.

    VAE and GAN of `tinynet.train.models` have this method; a user's class needs it, too. It draws
    the same random numbers at each evaluation, so the images show the progress of the same latent
    vectors.

    Args:
        count: the number of images.
        tag: the name in TensorBoard.

    Raises:
        ValueError: if the model has no such method, or it does not return images (count, channels,
            height, width).
    """

    def __init__(self, count: int = 64, tag: str = "samples") -> None:
        require_positive("GeneratedImages", count=count)
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the image."""
        samples = getattr(at.model, "samples", None)
        if not callable(samples):
            raise ValueError(f"{type(at.model).__name__} has no method samples(count)")
        images = samples(self.count)
        if not are_images(images):
            raise ValueError(
                f"{type(at.model).__name__}.samples({self.count}) must be images (count, 1 or 3 "
                f"channels, height, width), floating; is {shape_of(images)}"
            )
        at.picture(self.tag, grid(images))


# ---- reconstructions ----------------------------------------------------------------------------
# The reconstructions of an autoencoder.


class Reconstructions(Exhibit):
    """Validation images with the output of the model below each.

    If the model returns a tuple, the output is its first element, as for a VAE. Flat outputs, such
    as for an ``mlp``, are reshaped like the inputs.

    Args:
        count: the number of examples, from the start of the validation set.
        tag: the name in TensorBoard, by default ``val/reconstructions``, or ``test/...`` without a
            validation set.

    Raises:
        ValueError: if the inputs are not images, or the outputs differ in their number of elements.
    """

    def __init__(self, count: int = 16, tag: str = "") -> None:
        require_positive("Reconstructions", count=count)
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the image."""
        inputs = at.examples(self.count)[0]
        if not are_images(inputs):
            raise ValueError(
                "inputs must be images (batch, 1 or 3 channels, height, width), floating; "
                f"are {shape_of(inputs)}"
            )
        outputs = at.model(inputs)
        if isinstance(outputs, tuple):
            outputs = outputs[0]
        if not isinstance(outputs, Tensor) or outputs.numel() != inputs.numel():
            raise ValueError(
                f"outputs must be images like the inputs {shape_of(inputs)}, are "
                f"{shape_of(outputs)}"
            )
        both = np.concatenate([inputs.numpy(), outputs.numpy().reshape(inputs.shape)])
        at.picture(self.tag or at.tag("reconstructions"), grid(wrap(both), columns=len(inputs)))


# ---- sampled text -------------------------------------------------------------------------------
# Text generated by a language model.


class SampledText(Exhibit):
    """A prompt, continued with tokens sampled from the model.

    Each evaluation samples with the same `seed`, so that changes of the text come from the model.

    Args:
        prompt: the start of the text.
        length: the number of tokens to generate.
        temperature: below 1, likely tokens become likelier; 0 always picks the likeliest.
        top_k: sample from the k likeliest tokens only.
        seed: the seed for sampling.
        tag: the name in TensorBoard.

    Raises:
        ValueError: if the data set has no tokenizer, or the model is not a language model.
    """

    def __init__(
        self,
        prompt: str = "\n",
        length: int = 300,
        temperature: float = 0.8,
        top_k: int | None = None,
        seed: int = 0,
        tag: str = "samples",
    ) -> None:
        self.prompt = prompt
        self.length = length
        self.temperature = temperature
        self.top_k = top_k
        self.seed = seed
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the text, indented so that Markdown does not interpret it."""
        tokenizer = at.about("tokenizer")
        if not isinstance(tokenizer, Tokenizer):
            raise ValueError("the data set must have a tokenizer, as data.Text does")
        text = generate_text(
            at.model,
            tokenizer,
            self.prompt,
            self.length,
            temperature=self.temperature,
            top_k=self.top_k,
            seed=self.seed,
        )
        at.writer.add_text(self.tag, textwrap.indent(text, "    ", lambda line: True), at.step)


# ---- word vectors -------------------------------------------------------------------------------
# The vectors of an embedding: nearest neighbours, and TensorBoard's projector.


class Projector(Exhibit):
    """The vectors of an embedding, in the projector of TensorBoard.

    Args:
        embedding: the name of the `Embedding` in the model; defaults to its first one.
        count: the number of vectors, from the start (the most frequent words of a vocabulary).
        tag: the name in TensorBoard.

    The labels of the vectors come from the data set's ``vocabulary`` or its tokenizer; without one,
    they are the indices. Only the last evaluation is stored, because the files are large.

    Raises:
        ValueError: if the model has no such embedding.
    """

    def __init__(self, embedding: str = "", count: int = 2000, tag: str = "vectors") -> None:
        require_positive("Projector", count=count)
        self.embedding = embedding
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the vectors in place of the previous evaluation's."""
        vectors = vectors_of(at.model, self.embedding)[: self.count]
        names = names_of(at) or [*map(str, range(len(vectors)))]
        vectors = vectors[: len(names)]
        at.writer.add_embedding(vectors, [*names[: len(vectors)]], tag=self.tag)


class Neighbours(Exhibit):
    """A table of words with their nearest neighbours by cosine similarity.

    Args:
        words: the words; those outside the vocabulary are marked as unknown.
        embedding: the name of the `Embedding` in the model; defaults to its first one.
        count: the number of neighbours per word.
        tag: the name in TensorBoard.

    Raises:
        ValueError: if the model has no such embedding, the data set has no vocabulary, or it
            contains none of the words.
    """

    def __init__(
        self,
        words: Sequence[str],
        embedding: str = "",
        count: int = 8,
        tag: str = "neighbours",
    ) -> None:
        self.words = [*words]
        self.embedding = embedding
        self.count = count
        self.tag = tag

    def show(self, at: Moment) -> None:
        """Write the table."""
        names = names_of(at)
        if names is None:
            raise ValueError("the data set must have a vocabulary, as data.SkipGrams does")
        found_words = {*names} & {*self.words}
        if not found_words:
            raise ValueError(f"none of {self.words} is in the vocabulary of {len(names)} words")
        found = nearest(vectors_of(at.model, self.embedding), names, self.words, self.count)
        rows = (
            f"| **{word}** | {' '.join(near) if word in found_words else '(unknown)'} |"
            for word, near in found.items()
        )
        at.writer.add_text(self.tag, "\n".join(["| word | nearest |", "|:--|:--|", *rows]), at.step)


def nearest(
    vectors: Array, names: Sequence[str], words: Sequence[str], count: int
) -> dict[str, list[str]]:
    """Return the nearest neighbours of words by cosine similarity, nearest first.

    Args:
        vectors: (names, width).
        names: the names of the vectors; vectors beyond the last name are ignored.
        words: the words; one that is not a name gets no neighbours.
        count: the number of neighbours.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 3.0]])
        >>> nearest(vectors, ["a", "b", "c", "d"], ["a", "d", "x"], 2)
        {'a': ['b', 'd'], 'd': ['c', 'b'], 'x': []}
    """
    vectors = vectors[: len(names)]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(lengths == 0, 1, lengths)
    place = {name: index for index, name in enumerate(names)}
    found: dict[str, list[str]] = {}
    for word in words:
        found[word] = []
        if word in place:
            cosines = directions @ directions[place[word]]
            cosines[place[word]] = -np.inf
            order = np.argsort(-cosines, kind="stable")[: min(count, len(names) - 1)]
            found[word] = [names[index] for index in order]
    return found


def vectors_of(model: nn.Module, name: str) -> Array:
    """Return the vectors of an embedding: (vectors, width).

    Args:
        model: the model.
        name: the name of the embedding; the first one if empty.

    Raises:
        ValueError: if there is no such embedding; lists the existing ones.
    """
    embeddings = {n: m for n, m in model.named_modules() if isinstance(m, nn.Embedding)}
    name = name or next(iter(embeddings), "")
    if name not in embeddings:
        listed = ", ".join(embeddings) or "none"
        raise ValueError(f"the model has no embedding {name!r}; it has: {listed}")
    weight: Array = embeddings[name].weight.detach().numpy()
    return weight


def names_of(at: Moment) -> Sequence[str] | None:
    """Return the labels of the vectors: words, or the ``repr`` of characters; None if unknown."""
    tokenizer = at.about("tokenizer")
    if isinstance(tokenizer, CharTokenizer):
        return [repr(character) for character in tokenizer.vocabulary]
    vocabulary: Sequence[str] | None = at.about("vocabulary")
    return vocabulary
