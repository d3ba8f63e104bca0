"""What a layer expects: its keyword arguments and shapes, beside those that it got.

A layer states its shapes as patterns of its options, such as ``"[N, {in_channels}, {sizes}]"``.
Two names are not options: ``{sizes}`` is ``H, W`` for a layer of two dimensions, and ``{order}`` is
``L, N``, or ``N, L`` for a layer with ``batch_first``.
"""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tinynet.core.tensors.tensor import Tensor
from tinynet.errors import with_fix

_SIZES = {1: "L", 2: "H, W", 3: "D, H, W"}


def expected(layer: Any, value: Any) -> tuple[str, str]:
    """Return what a layer expects in place of ``value``, and the fix; "" for what is not known.

    Example:
        >>> from tinynet.core.explanations.arguments import expected
        >>> expected(nn.Conv2d(1, 8, 3), tn.zeros(5, 28, 28))
        ('float32 [N, 1, H, W] or [1, H, W]', '`x.unsqueeze(1)` adds the missing dimension')
        >>> expected(nn.Linear(784, 10), tn.zeros(5, 1, 28, 28))
        ('float32 [..., 784]', 'flatten it first: `x.flatten(1)`, or nn.Flatten()')
        >>> expected(nn.Linear(16, 10), tn.zeros(8, 32))[1]
        'make the layer with `in_features=32`, or the last dimension of its input 16'
    """
    patterns = [_Pattern(text, layer) for text in layer._expected_shapes]
    if not patterns or not isinstance(value, Tensor):
        return "", ""
    text = f"{_dtype_of(layer)} {' or '.join(pattern.text for pattern in patterns)}".strip()
    shape = [*value.shape]
    if any(pattern.fits(shape) for pattern in patterns):
        same = _dtype_of(layer) in ("", str(value.dtype).rpartition(".")[2])
        return "" if same else text, ""
    fixes = (fix(pattern, shape) for fix in _FIXES for pattern in patterns)
    return text, next(filter(None, fixes), "")


def _dtype_of(layer: Any) -> str:
    kinds = (str(p.dtype).rpartition(".")[2] for p in layer.parameters() if p.is_floating_point())
    return getattr(layer, "_expected_dtype", None) or next(kinds, "")


class _Pattern:
    """A shape that a layer expects.

    Attributes:
        text: the shape, with the values of the layer's options.
        dims: the length of each dimension, or None for any.
        options: the name of the option that each length is.
        before, after: whether other dimensions may come before these, or after them.
    """

    def __init__(self, text: str, layer: Any):
        parts: list[tuple[str, str]] = []  # the text of a dimension, and the option that it is
        for part in text[1:-1].split(", "):
            name = part.strip("{}")
            value = _option(layer, name) if part != name else part
            parts += [(dim, name) for dim in value.split(", ")]
        self.text = f"[{', '.join(dim for dim, _ in parts)}]"
        self.before, self.after = parts[0][0] == "...", parts[-1][0] == "..."
        parts = [(dim, name) for dim, name in parts if dim != "..."]
        self.dims = [int(dim) if dim.isdecimal() else None for dim, _ in parts]
        self.options = [name for _, name in parts]

    def fits(self, shape: Sequence[int]) -> bool:
        """Return whether a shape is as expected."""
        more = len(shape) - len(self.dims)
        if more < 0 or more and not (self.before or self.after):
            return False
        return all(d in (None, n) for d, n in zip(self.dims, self.part(shape), strict=True))

    def part(self, shape: Sequence[int]) -> Sequence[int]:
        """Return the dimensions of a shape that the pattern is about."""
        count = len(self.dims)
        return shape[len(shape) - count :] if self.before else shape[:count]


def _option(layer: Any, name: str) -> str:
    if name == "sizes":
        return _SIZES[layer.rank]
    if name == "order":
        return "N, L" if layer.batch_first else "L, N"
    value = getattr(layer, name)
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


# ---- fixes: each returns "" where it does not lead to the shape ---------------------------------


def _add_dimension(pattern: _Pattern, shape: list[int]) -> str:
    if len(shape) + 1 == len(pattern.dims):
        ones = [d for d, length in enumerate(pattern.dims) if length == 1]
        for d in [*ones, *range(len(shape) + 1)]:
            if pattern.fits([*shape[:d], 1, *shape[d:]]):
                return f"`x.unsqueeze({d})` adds the missing dimension"
    return ""


def _flatten(pattern: _Pattern, shape: list[int]) -> str:
    if pattern.before and len(pattern.dims) == 1:
        for d in range(1, len(shape) - 1):
            if pattern.fits([math.prod(shape[d:])]):
                return f"flatten it first: `x.flatten({d})`" + ", or nn.Flatten()" * (d == 1)
    return ""


def _move_dimension(pattern: _Pattern, shape: list[int]) -> str:
    """Move one dimension, but not the first, which is the batch."""
    count = len(shape)
    for source in range(count - 1, 0, -1):
        for target in range(1, count):
            order = [d for d in range(count) if d != source]
            order.insert(target, source)
            if source != target and pattern.fits([shape[d] for d in order]):
                if abs(source - target) == 1:
                    return f"`x.transpose({min(source, target)}, {max(source, target)})` first"
                return f"`x.permute({', '.join(map(str, order))})` first"
    return ""


def _change_option(pattern: _Pattern, shape: list[int]) -> str:
    """Change the one option that differs."""
    more = len(shape) - len(pattern.dims)
    if more < 0 or more and not (pattern.before or pattern.after):
        return ""
    wrong = [
        (d, n, name, position)
        for position, (d, n, name) in enumerate(
            zip(pattern.dims, pattern.part(shape), pattern.options, strict=True)
        )
        if d not in (None, n)
    ]
    if len(wrong) != 1:
        return ""
    wanted, found, name, position = wrong[0]
    last = pattern.before and position == len(pattern.dims) - 1
    where = "the last dimension" if last else f"dimension {position + pattern.before * more}"
    return f"make the layer with `{name}={found}`, or {where} of its input {wanted}"


_FIXES = (_add_dimension, _flatten, _move_dimension, _change_option)


# ---- names that other libraries, and books, give to arguments and keys ---------------------------


_ALIASES = {
    "lr": "learning_rate learningrate eta eta0 base_lr step_size initial_lr",
    "epochs": "n_epochs num_epochs max_epochs nb_epoch nb_epochs num_train_epochs epoch",
    "batch_size": "bs batchsize batch train_batch_size per_device_train_batch_size minibatch_size",
    "weight_decay": "l2 wd decay l2_penalty alpha",
    "betas": "beta_1 beta_2 beta1 beta2",
    "eps": "epsilon",
    "clip_norm": "clipnorm max_grad_norm gradient_clip_val grad_clip gradient_clip clip_grad_norm "
    "global_clipnorm",
    "clip_value": "clipvalue clip_grad_value",
    "accumulate": "accumulate_grad_batches gradient_accumulation_steps grad_accumulation",
    "dropout": "dropout_rate drop_rate drop dropout_p",
    "p": "rate probability",
    "dim": "axis",
    "hidden": "hidden_size hidden_dim hidden_sizes hidden_layers units",
    "sizes": "layer_sizes layers hidden_layer_sizes units dims",
    "classes": "num_classes n_classes nb_classes",
    "vocab_size": "num_embeddings input_dim num_tokens n_vocab",
    "width": "embed_dim d_model embedding_dim n_embd hidden_size",
    "heads": "num_heads n_head n_heads nhead",
    "layers": "num_layers n_layer n_layers depth",
    "context": "block_size max_len max_length context_length seq_len n_positions",
    "length": "seq_len seq_length sequence_length block_size",
    "in_features": "input_dim in_dim input_size input_shape",
    "out_features": "units out_dim output_dim output_size",
    "in_channels": "in_planes in_dim",
    "out_channels": "filters out_planes",
    "activation": "act nonlinearity act_fn hidden_act",
    "workers": "num_workers n_workers dataloader_num_workers n_jobs",
    "seed": "random_seed random_state manual_seed rng",
    "out": "output_dir out_dir log_dir logdir save_dir default_root_dir",
    "name": "run_name experiment experiment_name",
    "init_from": "pretrained checkpoint weights resume_from finetune_from",
    "patience": "early_stopping early_stopping_patience",
    "metrics": "metric scoring",
    "decay": "ema_decay",
    "target": "label label_column y target_column",
    "path": "file filename csv",
    "root": "data_dir data_path folder dir",
    "validation": "validation_split val_split valid_pct validation_fraction val_size",
    "test_fraction": "test_size test_split",
    "model": "network net architecture arch",
    "data": "dataset datamodule dls dataloader",
    "loss": "criterion loss_function loss_func loss_fn objective",
    "optimizer": "optim opt opt_func",
    "schedule": "scheduler lr_scheduler lr_schedule",
    "run": "trainer training train",
    "evaluation": "eval validate metrics",
    "ema": "averaging average exponential_moving_average",
    "accuracy": "acc categorical_accuracy sparse_categorical_accuracy",
    "CrossEntropyLoss": "categorical_crossentropy sparse_categorical_crossentropy ce softmax_loss",
    "BCEWithLogitsLoss": "binary_crossentropy bce log_loss",
    "MSELoss": "mse mean_squared_error l2 squared_error",
    "L1Loss": "mae mean_absolute_error l1",
    "Linear": "dense fullyconnected fc",
}
"""PyTorch's or our name, and those of others (Keras, Lightning, fastai, Hugging Face, sklearn)."""


def aliased(word: str, known: Iterable[str]) -> list[str]:
    """Return the known names for what others call a word.

    Example:
        >>> aliased("learning_rate", ["lr", "momentum"]), aliased("lr", ["lr"])
        (['lr'], [])
    """
    word = word.lower()
    return [name for name in known if word in _ALIASES.get(name, "").split()]


# ---- what was meant ------------------------------------------------------------------------------


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word for what others call a word, or else the most similar one, or None.

    Of several words that contain it, the shortest is returned.

    Example:
        >>> from tinynet.core.explanations.arguments import nearest
        >>> nearest("cosine", ["StepLR", "CosineAnnealingWarmRestarts", "CosineAnnealingLR"])
        'CosineAnnealingLR'
        >>> nearest("learning_rate", ["params", "lr", "momentum"])
        'lr'
    """
    by_lower = {name.lower(): name for name in known}
    word = word.lower()
    near = [name.lower() for name in aliased(word, by_lower.values())]
    near += difflib.get_close_matches(word, by_lower, n=1, cutoff=0.8)
    near += sorted((name for name in by_lower if _is_part(word, name)), key=len)
    near += difflib.get_close_matches(word, by_lower, n=1, cutoff=0.6)
    near += [name for name in by_lower if len(name) > 2 and word.startswith(name)]
    return by_lower[near[0]] if near else None


def _is_part(word: str, name: str) -> bool:
    return len(word) > 4 and word in name or len(word) > 2 and name.startswith(word)


class _OfInit:
    """The signature of a class without an ``__init__``: ``()``, which ``__new__`` would hide."""

    def __get__(self, instance: object, cls: Any) -> inspect.Signature | None:
        bare = cls.__init__ is object.__init__ and cls.__new__ is ChecksArguments.__new__
        return inspect.Signature() if instance is None and bare else None  # None: as of any class


class ChecksArguments:
    """Base of the classes that users construct."""

    if not TYPE_CHECKING:  # type checkers read ``__init__``

        def __new__(cls, /, *args: Any, **kwargs: Any) -> Any:
            """Make an instance.

            Raises:
                TypeError: ``__init__`` does not take one of the keyword arguments.
            """
            if kwargs:
                _refuse_unknown(cls, kwargs)
            make = super().__new__
            return make(cls) if make is object.__new__ else make(cls, *args, **kwargs)

        __signature__ = _OfInit()


def _refuse_unknown(cls: type, kwargs: dict[str, Any]) -> None:
    init: Any = cls.__init__  # type: ignore[misc]  # of the class, for its code
    code = getattr(init, "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return
    taken = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    unknown = next((name for name in kwargs if name not in taken), None)
    if unknown is not None:
        bases = [base.__name__ for base in cls.__mro__ if getattr(base, "__init__", None) is init]
        public = [name for name in bases if name[0] != "_"] or bases
        sentence = f"{public[-1]}.__init__() got an unexpected keyword argument {unknown!r}"
        raise TypeError(meant(sentence, taken))


def meant(sentence: str, taken: Iterable[str]) -> str:
    """Add the argument that was meant to Python's sentence about one that is unknown."""
    found = re.search(r"got an unexpected keyword argument '(\w+)'$", sentence)
    near = nearest(found[1], taken) if found else None
    return with_fix(sentence, f"did you mean {near!r}?") if near else sentence
