"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.callsite import Site, here
from tinynet.core.declaration import observers
from tinynet.core.modes import enable_grad
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.dtypes import Array
from tinynet.optim.base.groups import completed, refuse_mixed
from tinynet.optim.base.options import (
    Group,
    Params,
    number,
    options_of,
    refuse_long_lr,
    refuse_out_of_range,
)
from tinynet.optim.line_search import Point, strong_wolfe
from tinynet.optim.optimizer import Optimizer, step_of


class LBFGS(Optimizer):
    """L-BFGS: Newton's method with a curvature estimated from recent gradients.

    Each ``step`` runs up to ``max_iter`` iterations and calls the closure in each of them. Suits
    objectives without noise: full-batch training, curve fitting, style transfer. Liu and Nocedal
    (1989), "On the Limited Memory BFGS Method for Large Scale Optimization".

    Args:
        params: parameters, or named ones; only one group is allowed.
        lr: length of a step along the direction, >= 0; the initial guess of the line search.
        max_iter: maximum number of iterations per step.
        max_eval: maximum number of closure calls per step; ``max_iter * 5 // 4`` by default.
        tolerance_grad: stop when no element of the gradient is larger.
        tolerance_change: stop when parameters or loss change less.
        history_size: number of gradients for estimating the curvature.
        line_search_fn: None, or ``"strong_wolfe"``: search for a good step length.

    Raises:
        ValueError: lr is negative, or there are several groups.

    Example:
        >>> x = tn.tensor([4.0, -1.0], requires_grad=True)
        >>> optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((x - tn.tensor([1.0, 2.0])) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure).item()
        18.0
        >>> x
        tensor([1., 2.], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ):
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, options_of(locals()))

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""
        refuse_long_lr(group)
        refuse_out_of_range(group, ("lr",))

    def add_param_group(self, param_group: Group) -> None:
        """Add the only group.

        Raises:
            ValueError: there is already a group.
        """
        if self.param_groups:
            refuse_mixed(completed(param_group, self.defaults), self.param_groups)
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        super().add_param_group(param_group)

    # ---- the parameters as one vector -------------------------------------------------------

    def _gradient(self) -> Array:
        """Return all gradients as one vector, with zeros where there is none."""
        return np.concatenate(
            [
                np.zeros_like(_reals(p._array)).ravel()
                if p._grad is None
                else _reals(np.asarray(p._grad._array)).ravel()
                for p in self.param_groups[0]["params"]
            ]
        )

    def _move(self, by: Array) -> None:
        """Add a vector to the parameters."""
        start, site = 0, here()
        for p in self.param_groups[0]["params"]:
            array = _reals(p._array)
            array += by[start : start + array.size].reshape(array.shape)
            start += array.size
            _wrote(p, site)

    def _put(self, values: list[Array]) -> None:
        """Set the parameters."""
        site = here()
        for p, value in zip(self.param_groups[0]["params"], values, strict=True):
            p._array[...] = value
            _wrote(p, site)

    # ---- steps ------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Run up to ``max_iter`` iterations; return the first result of ``closure``.

        Args:
            closure: computes the gradients and returns the loss; runs with grad mode on.
        """
        group = self.param_groups[0]
        held = self.state[group["params"][0]]  # holds the whole state, as in PyTorch
        held.setdefault("func_evals", 0)
        held.setdefault("n_iter", 0)

        def call() -> tuple[float, Array]:
            held["func_evals"] += 1
            with enable_grad():
                last.append(closure())
            return float(last[-1].detach() if isinstance(last[-1], Tensor) else last[-1]), (
                self._gradient()
            )

        last: list[Any] = []
        loss, grad = call()
        first = last[0]
        if not np.abs(grad).max() <= group["tolerance_grad"]:
            curve = Curvature(held, group["history_size"])
            self._iterate(call, loss, grad, curve, held)
            curve.save(held)
        return first

    def _iterate(
        self,
        call: Callable[[], tuple[float, Array]],
        loss: float,
        grad: Array,
        curve: Curvature,
        held: dict[str, Any],
    ) -> None:
        """Iterate until one of the limits is reached."""
        group, started = self.param_groups[0], held["func_evals"] - 1
        little = group["tolerance_change"]
        for done in range(1, group["max_iter"] + 1):
            held["n_iter"] += 1
            direction = curve.direction(grad, held["n_iter"] == 1)
            curve.last_loss, before = loss, loss
            t = number(group["lr"])
            if held["n_iter"] == 1:
                total = float(np.abs(grad).sum())
                t *= min(1.0, 1 / total) if total else 1.0
            curve.t = t
            slope = float(grad @ direction)
            if slope > -little:
                return
            left = group["max_eval"] - (held["func_evals"] - started)
            if group["line_search_fn"] is not None:
                loss, grad = self._search(call, Point(0.0, loss, grad, slope), curve, left)
                self._move(curve.t * direction)
            else:
                self._move(t * direction)
                if done != group["max_iter"]:
                    loss, grad = call()
            if (
                done == group["max_iter"]
                or held["func_evals"] - started >= group["max_eval"]
                or np.abs(grad).max() <= group["tolerance_grad"]
                or np.abs(direction * curve.t).max() <= little
                or abs(loss - before) < little
            ):
                return

    def _search(
        self, call: Callable[[], tuple[float, Array]], start: Point, curve: Curvature, left: int
    ) -> tuple[float, Array]:
        """Set ``curve.t`` to a good length; return the loss and gradient at that point."""
        group, direction = self.param_groups[0], curve.d
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [p._array.copy() for p in group["params"]]

        def at(t: float) -> Point:
            self._move(t * direction)
            loss, grad = call()
            self._put(origin)
            return Point(t, loss, grad, float(grad @ direction))

        size = float(np.abs(direction).max())
        found = strong_wolfe(at, start, curve.t, size, group["tolerance_change"], left)
        curve.t = found.t
        return found.loss, found.grad


class Curvature:
    """An estimate of the inverse Hessian from recent gradients, and the last step.

    Attributes:
        d, t: the last direction and length.
        changes, moves: differences of gradients, and of parameters.
        inverses: 1 over the product of each pair.
        scale: the factor of the initial inverse Hessian.
    """

    def __init__(self, held: dict[str, Any], size: int):
        self.size = size
        self.d: Any = _array(held.get("d"))
        self.t: Any = _array(held.get("t"))
        self.changes: list[Any] = [_array(x) for x in held.get("old_dirs") or []]
        self.moves: list[Any] = [_array(x) for x in held.get("old_stps") or []]
        self.inverses: list[Any] = [_array(x) for x in held.get("ro") or []]
        self.scale: Any = _array(held.get("H_diag", 1))
        self.last_grad: Any = _array(held.get("prev_flat_grad"))
        self.last_loss = held.get("prev_loss")
        self.shares: list[Any] | None = held.get("al")

    def direction(self, grad: Array, first: bool) -> Array:
        """Return the search direction for a gradient, after learning from the last step."""
        if first:
            self.changes, self.moves, self.inverses, self.scale = [], [], [], 1
            self.d = -grad
        else:
            self._learn(grad - self.last_grad, self.d * self.t)
            self.d = self._newton(grad)
        self.last_grad = grad
        return self.d

    def _learn(self, change: Array, move: Array) -> None:
        """Store a pair that shows positive curvature."""
        product = change @ move
        if not product > 1e-10:
            return
        if len(self.changes) == self.size:
            for old in (self.changes, self.moves, self.inverses):
                old.pop(0)
        self.changes.append(change)
        self.moves.append(move)
        self.inverses.append(1 / product)
        self.scale = product / (change @ change)

    def _newton(self, grad: Array) -> Array:
        """Return minus the inverse Hessian times the gradient: two loops over the pairs."""
        if self.shares is None:
            self.shares = [None] * self.size
        r = -grad
        pairs = [*zip(self.changes, self.moves, self.inverses, strict=True)]
        for i in reversed(range(len(pairs))):
            change, move, inverse = pairs[i]
            self.shares[i] = (move @ r) * inverse
            r -= self.shares[i] * change
        r *= self.scale
        for share, (change, move, inverse) in zip(self.shares, pairs, strict=False):
            r += (share - (change @ r) * inverse) * move
        return r

    def save(self, held: dict[str, Any]) -> None:
        """Store everything in the optimizer's state, under PyTorch's names."""
        if self.shares is not None:
            held["al"] = [x if x is None else _tensor(x) for x in self.shares]
        held["d"] = _tensor(self.d)
        held["t"] = self.t
        held["old_dirs"] = [_tensor(x) for x in self.changes]
        held["old_stps"] = [_tensor(x) for x in self.moves]
        held["ro"] = [_tensor(x) for x in self.inverses]
        held["H_diag"] = _tensor(self.scale)
        held["prev_flat_grad"] = _tensor(self.last_grad)
        held["prev_loss"] = self.last_loss


def _reals(array: Array) -> Array:
    """Return an array of real numbers itself, and the parts of complex ones."""
    return dtypes.pairs_of(array) if array.dtype.kind == "c" else array


def _array(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value


def _tensor(value: Any) -> Any:
    return value if isinstance(value, (Tensor, int)) else wrap(np.asarray(value))


def _wrote(p: Tensor, site: Site | None) -> None:
    """Count a write to a parameter, and notify observers."""
    counter_of(p).bump(site, step_of("LBFGS"))
    if observers.observers:
        sources = [] if p._grad is None else [p._grad._array]
        observers.report_write(step_of("LBFGS"), p._array, sources)
