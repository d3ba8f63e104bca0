"""The models of the workloads, written once: ``lib`` is tinynet or PyTorch."""

from collections.abc import Callable
from typing import Any

Model = Any  # a Module of either library


def mlp(lib: Any, *sizes: int) -> Model:
    """Return linear layers of these sizes with ReLU between them."""
    nn, layers = lib.nn, []
    for inputs, outputs in zip(sizes[:-1], sizes[1:], strict=True):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def chain(lib: Any, steps: int) -> Model:
    """Return a model of ``4 * steps`` scalar operations, each using the previous result."""

    class Chain(lib.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.scale = lib.nn.Parameter(lib.tensor(0.9))
            self.shift = lib.nn.Parameter(lib.tensor(0.1))

        def forward(self, x: Any) -> Any:
            scale, shift = self.scale, self.shift
            for _ in range(steps):
                x = lib.tanh(x * scale + shift) - shift
            return x

    return Chain()


def bag(lib: Any, rows: int, width: int, classes: int) -> Model:
    """Return a classifier of the mean of word vectors with norms of at most 1."""

    class Bag(lib.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words = lib.nn.Embedding(rows, width, max_norm=1.0)
            self.head = lib.nn.Linear(width, classes)

        def forward(self, x: Any) -> Any:
            return self.head(self.words(x).mean(1))

    return Bag()


def lstm(lib: Any, letters: int, width: int) -> Model:
    """Return a language model: embedding, LSTM, linear."""

    class Letters(lib.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding = lib.nn.Embedding(letters, width)
            self.lstm = lib.nn.LSTM(width, width, batch_first=True)
            self.head = lib.nn.Linear(width, letters)

        def forward(self, x: Any) -> Any:
            return self.head(self.lstm(self.embedding(x))[0])

    return Letters()


def block(lib: Any, width: int, heads: int) -> Model:
    """Return a transformer block: causal attention and a layer of 4 times the width."""
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.grow, self.shrink = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attend(self, x: Any) -> Any:
            batch, length, _ = x.shape
            qkv = self.qkv(x).view(batch, length, 3, heads, width // heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(batch, length, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.norm1(x))
            return x + self.shrink(functional.gelu(self.grow(self.norm2(x))))

    return Block()


def decode(lib: Any, block: Any, x: Any, cache: Any) -> tuple[Any, Any]:
    """Return the result of a transformer block for one token, and its keys and values so far.

    Args:
        lib: the library.
        block: that of ``block``.
        x: ``[batch, 1, width]``.
        cache: the keys and values of the tokens before, or None.
    """
    functional, (batch, _, width) = lib.nn.functional, x.shape
    q, k, v = block.qkv(block.norm1(x)).view(batch, 1, 3, block.heads, -1).transpose(1, 3).unbind(2)
    if cache is not None:
        k, v = lib.cat((cache[0], k), 2), lib.cat((cache[1], v), 2)
    y = functional.scaled_dot_product_attention(q, k, v)
    x = x + block.out(y.transpose(1, 2).reshape(batch, 1, width))
    return x + block.shrink(functional.gelu(block.grow(block.norm2(x)))), (k, v)


def gpt(
    lib: Any, letters: int, length: int, blocks: int, width: int, heads: int, tied: bool = False
) -> Model:
    """Return a GPT: embeddings, blocks, norm, linear; ``tied`` to the embedding, as GPT-2's."""
    nn = lib.nn

    class Gpt(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.token = nn.Embedding(letters, width)
            self.place = nn.Parameter(lib.zeros(length, width))
            self.blocks = nn.Sequential(*(block(lib, width, heads) for _ in range(blocks)))
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, letters, bias=not tied)
            if tied:
                nn.init.normal_(self.token.weight, std=0.02)
                self.head.weight = self.token.weight

        def forward(self, x: Any) -> Any:
            return self.head(self.norm(self.blocks(self.token(x) + self.place)))

    return Gpt()


def lenet(lib: Any) -> Model:
    """Return LeNet-5 for 28 by 28 images, with ReLU and max pooling."""
    nn = lib.nn
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )


def residual(lib: Any, inputs: int, outputs: int, stride: int) -> Model:
    """Return a residual block of two convolutions with batch norm."""
    nn, functional = lib.nn, lib.nn.functional

    class Residual(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
            self.short: Callable[[Any], Any] = nn.Identity()
            if stride != 1 or inputs != outputs:
                project = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
                self.short = nn.Sequential(project, nn.BatchNorm2d(outputs))

        def forward(self, x: Any) -> Any:
            y = functional.relu(self.norm1(self.conv1(x)))
            return functional.relu(self.norm2(self.conv2(y)) + self.short(x))

    return Residual()


def resnet(lib: Any, widths: tuple[int, ...]) -> Model:
    """Return a residual network with one block per width, each half as large as the last."""
    nn, first = lib.nn, widths[0]
    stem = (nn.Conv2d(3, first, 3, padding=1, bias=False), nn.BatchNorm2d(first), nn.ReLU())
    pairs = zip((first, *widths[:-1]), widths, strict=True)
    blocks = [residual(lib, a, b, 1 if i == 0 else 2) for i, (a, b) in enumerate(pairs)]
    return nn.Sequential(
        *stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], 10)
    )


def resnet18(lib: Any) -> Model:
    """Return ResNet-18 with 10 classes: two residual blocks per width after a stem of stride 4."""
    nn, widths = lib.nn, (64, 64, 128, 128, 256, 256, 512, 512)
    stem = (nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU())
    pairs = zip((64, *widths[:-1]), widths, strict=True)
    blocks = [residual(lib, a, b, 1 if a == b else 2) for a, b in pairs]
    pool = nn.MaxPool2d(3, 2, 1)
    return nn.Sequential(
        *stem, pool, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)
    )
