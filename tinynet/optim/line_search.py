"""Line search: finding the step length along a direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from tinynet.dtypes import Array


class Point(NamedTuple):
    """A point on the line.

    Attributes:
        t: the step length along the direction.
        loss, grad: the closure's results at the point.
        slope: derivative of the loss with respect to t.
    """

    t: float
    loss: float
    grad: Array
    slope: float


ENOUGH, FLAT = 1e-4, 0.9  # constants of the sufficient decrease and curvature conditions


def strong_wolfe(
    at: Callable[[float], Point],
    start: Point,
    t: float,
    size: float,
    little: float,
    most: int,
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
    """
    before, point, tried = start, at(t), 0
    while tried < most:
        risen = point.loss > start.loss + ENOUGH * point.t * start.slope
        if risen or (tried > 1 and point.loss >= before.loss):
            break
        if abs(point.slope) <= -FLAT * start.slope:
            return point
        if point.slope >= 0:
            break
        low, high = point.t + 0.01 * (point.t - before.t), point.t * 10
        before, point = point, at(interpolated(before, point, low, high))
        tried += 1
    if tried >= most:
        return start if start.loss <= point.loss else point
    return _zoom(at, start, [before, point], size, little, most - tried)


def _zoom(
    at: Callable[[float], Point],
    start: Point,
    ends: list[Point],
    size: float,
    little: float,
    most: int,
) -> Point:
    """Narrow an interval that contains a suitable point."""
    low = 0 if ends[0].loss <= ends[1].loss else 1
    stuck = False
    for _ in range(most):
        if abs(ends[1].t - ends[0].t) * size < little:
            break
        t, stuck = _inside(ends, stuck)
        point = at(t)
        if point.loss > start.loss + ENOUGH * t * start.slope or point.loss >= ends[low].loss:
            ends[1 - low] = point
            low = 0 if ends[0].loss <= ends[1].loss else 1
            continue
        flat = abs(point.slope) <= -FLAT * start.slope
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
