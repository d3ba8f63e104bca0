"""Tables whose rows are looked up by number, such as an embedding's: ``[count, width]``, float32.

Numbers of rows are ``[n]``, each from 0 to ``count - 1``. ``place`` is memory for a number for each
row of the table, ``[count]``; what stands in it does not matter.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, float64

from tinynet.dtypes import Array
from tinynet.numba_kernels.elementary import ZERO


def shorten(table: Array, numbers: Array, place: Array, longest: float64) -> None:
    """Multiply the rows with numbers that are longer than ``longest`` such that they are no more.

    Each row once: that time that its number comes last.
    """
    for i in range(numbers.size):
        place[numbers[i]] = i
    for i in range(numbers.size):
        if place[numbers[i]] != i:
            continue
        row, square = table[numbers[i]], ZERO
        for j in range(row.size):
            square += row[j] * row[j]
        length = float64(np.sqrt(square))
        if length > longest:
            factor = float32(longest / (length + 1e-7))
            for j in range(row.size):
                row[j] *= factor


def unite(numbers: Array, values: Array, place: Array, once: Array, sums: Array) -> int:
    """Add up the rows that have the same number, in order; return how many numbers there are.

    Args:
        numbers, values: ``[n]`` and ``[n, width]``.
        place: where the sums of each number are.
        once, sums: for the numbers, each once, in order of first appearance, and the sums.
    """
    found = 0
    for i in range(numbers.size):
        number, row = numbers[i], values[i]
        at = place[number]  # not written yet, it may be anything: then another number stands there
        if 0 <= at < found and once[at] == number:
            total = sums[at]
            for j in range(row.size):
                total[j] += row[j]
        else:
            place[number] = found
            once[found] = number
            total = sums[found]
            for j in range(row.size):
                total[j] = row[j]
            found += 1
    return found


def descend(table: Array, numbers: Array, values: Array, rate: float32, part: Array) -> None:
    """Subtract ``rate`` times a row of values from each row of the table that has a number.

    Args:
        part: ``[width]``. The products are rounded on their way through it: so they are the same
            as in an update of the whole table.
    """
    for i in range(numbers.size):
        row, move = table[numbers[i]], values[i]
        for j in range(part.size):
            part[j] = rate * move[j]
        for j in range(part.size):
            row[j] -= part[j]


def add_rows(table: Array, numbers: Array, values: Array) -> None:
    """Add each row of values to the row of the table with its number, in order."""
    for i in range(numbers.size):
        row, more = table[numbers[i]], values[i]
        for j in range(row.size):
            row[j] += more[j]
