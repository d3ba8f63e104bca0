"""The norms of gradients and weights, for the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tinynet.core.tensors.tensor import Tensor
from tinynet.core.trace import repeated
from tinynet.nn.utils import get_total_norm
from tinynet.train.step.task import Updater


class Norms:
    """The norms of an optimizer's gradients and weights in its last step.

    Example:
        >>> w = tn.tensor([3.0, 4.0], requires_grad=True)
        >>> w.grad = tn.tensor([0.0, 2.0])
        >>> norms = Norms()
        >>> Updater(optim.SGD([w], lr=1.0), clip_norm=1.0, before=norms.see).step()
        >>> norms.grad, round(norms.weight, 4)
        (2.0, 5.0)
    """

    grad = weight = 0.0

    @repeated
    def see(self, parameters: Sequence[Tensor]) -> None:
        """Measure the parameters before a step, and their gradients before they are clipped."""
        gradients = [p.grad for p in parameters if p.grad is not None]
        self.grad = _norm([g._values() if g.is_sparse else g for g in gradients])
        self.weight = _norm([p.detach() for p in parameters])


def _norm(tensors: Sequence[Tensor]) -> float:
    return float(get_total_norm(tensors).item())


class LoggedNorms:
    """The norms of all optimizers of a run.

    Args:
        updaters: the optimizers by name.
        wanted: whether to measure anything.
    """

    def __init__(self, updaters: Mapping[str, Updater], wanted: bool) -> None:
        self._norms = {name: Norms() for name in updaters} if wanted else {}
        for name, norms in self._norms.items():
            updaters[name].before = norms.see

    def figures(self) -> dict[str, float]:
        """Return the norms of the last step by name."""
        found = {}
        for name, norms in self._norms.items():
            found[f"grad_norm_{name}".rstrip("_")] = norms.grad
            found[f"weight_norm_{name}".rstrip("_")] = norms.weight
        return found
