"""PyTorch's errors about gradients that do not arrive as expected, with names and remedies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def unfinished(rank: int, missing: Sequence[tuple[int, str]], static: bool) -> RuntimeError:
    """Return the error of a forward pass after an incomplete backward pass.

    Args:
        rank: this rank.
        missing: indices and names of the parameters without gradients.
        static: ``static_graph`` is set.
    """
    text = "Expected to have finished reduction in the prior iteration before starting a new one. "
    if static:
        text += (
            "This error indicates that your training graph has changed in this iteration, e.g., "
            "one parameter is used in first iteration, but then got unused in the second "
            "iteration. this is not compatible with static_graph set to True."
        )
    else:
        text += (
            "This error indicates that your module has parameters that were not used in producing "
            "loss. You can enable unused parameter detection by passing the keyword argument "
            "`find_unused_parameters=True` to `tinynet.nn.parallel.DistributedDataParallel`, and "
            "by \nmaking sure all `forward` function outputs participate in calculating loss."
        )
    indices = " ".join(str(index) for index, _ in missing)
    names = ", ".join(name for _, name in missing)
    return RuntimeError(
        f"{text}\nParameter indices which did not receive grad for rank {rank}: {indices}\n"
        f"  unused   {names}"
    )


def ready_twice(index: int, name: str) -> RuntimeError:
    """Return the error of a parameter whose gradient arrives twice in a pass."""
    return RuntimeError(
        "Expected to mark a variable ready only once. This error is caused by one of the "
        "following reasons: 1) Use of a module parameter outside the `forward` function. Please "
        "make sure model parameters are not shared across multiple concurrent forward-backward "
        "passes. or try to use static_graph=True as a workaround if this module graph does not "
        "change during training loop. 2) Reused parameters in multiple reentrant backward passes. "
        "For example, if you use multiple `checkpoint` functions to wrap the same part of your "
        "model: pass use_reentrant=False to them, or static_graph=True.\n"
        f"Parameter at index {index} with name {name} has been marked as ready twice."
    )


def changed_graph(name: str) -> RuntimeError:
    """Return the error of a parameter that gets more gradients than in the first iteration."""
    return RuntimeError(
        "Your training graph has changed in this iteration, e.g., one parameter is unused in "
        "first iteration, but then got used in the second iteration. this is not compatible with "
        f"static_graph set to True. The parameter is {name}: pass find_unused_parameters=True "
        "instead of static_graph=True."
    )


def sparse_in_bucket(name: str) -> RuntimeError:
    """Return the error of a sparse gradient that no module announced."""
    return RuntimeError(
        f"Expected variable to have dense gradient: that of {name} is sparse, but it is not the "
        "weight of an nn.Embedding or nn.EmbeddingBag with sparse=True. Use one of these modules."
    )


def no_future(value: Any) -> RuntimeError:
    """Return the error of a communication hook that returns something else."""
    kind = type(value)
    return RuntimeError(
        "DDP communication hook's callback must return a tinynet.distributed.Future object, but "
        f"got {kind.__module__}.{kind.__qualname__}: return "
        "`dist.all_reduce(bucket.buffer(), async_op=True).get_future()`, or `.then(...)` of it."
    )
