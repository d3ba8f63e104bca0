"""The geometry of sliding windows: of convolutions, pooling, folding and unpooling.

One formula relates sizes and windows: ``n + 2 * padding >= stride * (windows - 1) + dilation *
(kernel - 1) + 1``.
"""

from __future__ import annotations

from typing import NamedTuple

Ints = tuple[int, ...]


def window_count(
    n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool = False
) -> int:
    """Return the number of windows over n elements; see ``Geometry.over``."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= n + padding:  # it must begin inside
        count -= 1
    return count


def array_size(kernel: int, stride: int, padding: int, dilation: int, out: int) -> int:
    """Return the smallest number of elements that have these windows; see ``Geometry.least``."""
    return stride * (out - 1) - 2 * padding + dilation * (kernel - 1) + 1


def windows_inside(size: int, shift: int, stride: int, out: int) -> tuple[int, int]:
    """Return the range of the windows whose element at offset ``shift`` is inside the array."""
    low = min(max(-(shift // stride), 0), out)
    return low, min(max((size - 1 - shift) // stride + 1, low), out)


class Geometry(NamedTuple):
    """The geometry of sliding windows, one int per dimension in each field.

    Window ``o`` has, for ``0 <= k < kernel``, the elements ``stride * o + dilation * k - padding``;
    outside the array these are 0. A negative padding skips elements.

    Attributes:
        kernel: size of a window.
        stride: step between windows.
        padding: the padding before the first element; that after the last follows from ``out``.
        dilation: distance between the elements of a window.
        out: number of windows.
    """

    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    out: Ints

    @classmethod
    def over(
        cls, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints,
        ceil_mode: bool = False,
    ) -> Geometry:  # fmt: skip
        """Return all windows over an array of this size, with the same padding on both sides.

        Args:
            size: that of the array.
            kernel, stride, padding, dilation: see above.
            ceil_mode: whether the last window may extend past the padding, if it begins before.
        """
        fields = zip(size, kernel, stride, padding, dilation, strict=True)
        out = tuple([window_count(*field, ceil_mode) for field in fields])
        return cls(kernel, stride, padding, dilation, out)

    @property
    def least(self) -> Ints:
        """The smallest size of an array, with the same padding on both sides, with these windows.

        It is the size of a transposed convolution without output padding.
        """
        return tuple([array_size(*fields) for fields in zip(*self, strict=True)])

    def after(self, size: Ints) -> Ints:
        """Return the padding after the last element of an array, which the last window needs."""
        fields = zip(size, self.padding, self.reach, strict=True)
        return tuple([max(0, r + 1 - p - n) for n, p, r in fields])

    @property
    def spans(self) -> Ints:
        """The extent of a window."""
        return tuple([d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True)])

    @property
    def reach(self) -> Ints:
        """The extent from the first element of the first window to the last of the last."""
        return tuple([(o - 1) * s + (k - 1) * d for k, s, _, d, o in zip(*self, strict=True)])

    @property
    def of_rows(self) -> Geometry:
        """The same windows with a first dimension of length 1."""
        return Geometry(*((n, *field) for n, field in zip((1, 1, 0, 1, 1), self, strict=True)))

    def mirrored(self, size: Ints) -> Geometry | None:
        """Return the walk of the windows, in reverse order, over an array of this size.

        With a stride of 1, an element is in windows that are ``dilation`` apart, too. None: the
        stride is another, or the padding would be negative.
        """
        fields = zip(self.kernel, self.padding, self.dilation, strict=True)
        padding = tuple([d * (k - 1) - p for k, p, d in fields])
        if {*self.stride} != {1} or min(padding) < 0:
            return None
        return Geometry(self.kernel, self.stride, padding, self.dilation, size)

    def trivial(self, size: Ints) -> bool:
        """Return whether the windows of an array of this size are its elements."""
        return {*self.kernel, *self.stride} == {1} and not any(self.padding) and self.out == size
