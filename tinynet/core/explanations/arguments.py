"""Keyword arguments that a class does not take: the error names the one that was meant."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tinynet.errors import with_fix

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
