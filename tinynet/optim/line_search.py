"""Line search: finding the step length along a direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from tinynet.core.tensors.tensor import Tensor


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
