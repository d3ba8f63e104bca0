"""L-BFGS."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinynet import dtypes
from tinynet.core import trace
from tinynet.core.callsite import Site, here
from tinynet.core.modes import enable_grad
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.dtypes import Array
from tinynet.optim.base.groups import (
    Group,
    Params,
    completed,
    number,
    options_of,
    refuse_long_lr,
    refuse_mixed,
    refuse_out_of_range,
)
from tinynet.optim.optimizer import Optimizer, step_of

# ---- line search --------------------------------------------------------------------------------
# Line search: finding the step length along a direction.


class Point(NamedTuple):
    """A point on the line.

    Attributes:
        t: the step length along the direction.
        loss, grad: the closure's results at the point.
        slope: derivative of the loss with respect to t.
    """

    t: float
    loss: float
    grad: Any
    slope: float


BOUNDS = 1e-4, 0.9


def strong_wolfe(
    at: Callable[[float], Point],
    start: Point,
    t: float,
    size: float,
    little: float,
    most: int,
    bounds: tuple[float, float] = BOUNDS,
) -> Point:
    """Return a point that satisfies the strong Wolfe conditions.

    Extends the step until it finds such a point or an interval that contains one, then narrows the
    interval. Nocedal and Wright (2006), "Numerical Optimization", algorithms 3.5 and 3.6.

    Args:
        at: evaluates the loss; first called with ``t``.
        start: the point at 0.
        t: the initial guess.
        size: largest element of the direction.
        little: stop when the interval is smaller, measured in the direction's largest element.
        most: maximum number of further evaluations.
        bounds: constants of the sufficient decrease and curvature conditions.
    """
    enough, flat = bounds
    before, point, tried = start, at(t), 0
    while tried < most:
        risen = point.loss > start.loss + enough * point.t * start.slope
        if risen or (tried > 1 and point.loss >= before.loss):
            break
        if abs(point.slope) <= -flat * start.slope:
            return point
        if point.slope >= 0:
            break
        low, high = point.t + 0.01 * (point.t - before.t), point.t * 10
        before, point = point, at(interpolated(before, point, low, high))
        tried += 1
    if tried >= most:
        return start if start.loss <= point.loss else point
    return _zoom(at, start, [before, point], size, little, most - tried, bounds)


def _zoom(
    at: Callable[[float], Point],
    start: Point,
    ends: list[Point],
    size: float,
    little: float,
    most: int,
    bounds: tuple[float, float],
) -> Point:
    """Narrow an interval that contains a suitable point."""
    low = 0 if ends[0].loss <= ends[1].loss else 1
    stuck = False
    for _ in range(most):
        if abs(ends[1].t - ends[0].t) * size < little:
            break
        t, stuck = _inside(ends, stuck)
        point = at(t)
        if point.loss > start.loss + bounds[0] * t * start.slope or point.loss >= ends[low].loss:
            ends[1 - low] = point
            low = 0 if ends[0].loss <= ends[1].loss else 1
            continue
        flat = abs(point.slope) <= -bounds[1] * start.slope
        if not flat and point.slope * (ends[1 - low].t - ends[low].t) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = point
        if flat:
            break
    return ends[low]


def _inside(ends: list[Point], stuck: bool) -> tuple[float, bool]:
    """Return the next trial point, avoiding a second one near an end of the interval."""
    first, last = sorted(end.t for end in ends)
    t = interpolated(ends[0], ends[1], first, last)
    margin = 0.1 * (last - first)
    if min(last - t, t - first) >= margin:
        return t, False
    if stuck or t >= last or t <= first:
        return (last - margin if abs(t - last) < abs(t - first) else first + margin), False
    return t, True


def interpolated(a: Point, b: Point, low: float, high: float) -> float:
    """Return the minimum, within bounds, of the cubic through two points with their slopes."""
    if a.t > b.t:
        a, b = b, a
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    root = math.sqrt(square)
    bend = b.slope - a.slope + 2 * root
    if bend == 0:
        return low
    t = b.t - (b.t - a.t) * ((b.slope + root - mean) / bend)
    return min(max(t, low), high)


# ---- as libraries import them from torch.optim.lbfgs ----


def _strong_wolfe(
    obj_func: Callable[[Tensor, float, Tensor], tuple[Any, Tensor]],
    x: Tensor,
    t: float,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = BOUNDS[0],
    c2: float = BOUNDS[1],
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, float, int]:
    """Return the loss and gradient at a point found by `strong_wolfe`, its t, and the evaluations.

    Args:
        obj_func: returns the loss and gradient at ``x + t * d``.
        x, t, d: a point, the initial guess and the direction.
        f, g, gtd: loss, gradient and slope at ``x``.
        c1, c2, tolerance_change, max_ls: ``bounds``, ``little`` and ``most``.
    """
    evaluations = 0

    def at(t: float) -> Point:
        nonlocal evaluations
        evaluations += 1
        loss, grad = obj_func(x, t, d)
        return Point(t, float(loss), grad.clone(), float(grad.dot(d)))

    start, size = Point(0.0, float(f), g.clone(), float(gtd)), float(d.abs().max())
    found = strong_wolfe(at, start, float(t), size, tolerance_change, max_ls, (c1, c2))
    return found.loss, found.grad, found.t, evaluations


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None
) -> float:
    """Return `interpolated` of points, losses and slopes; the bounds are the points by default."""
    a, b = (Point(float(x), float(f), None, float(g)) for x, f, g in ((x1, f1, g1), (x2, f2, g2)))
    low, high = sorted((a.t, b.t)) if bounds is None else map(float, bounds)
    return interpolated(a, b, low, high)


# ---- lbfgs --------------------------------------------------------------------------------------


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
    if trace.observers:
        sources = [] if p._grad is None else [p._grad._array]
        trace.report_write(step_of("LBFGS"), p._array, sources)
