"""Tables whose rows are looked up by index, such as embeddings: ``[count, width]``, float32.

Row numbers are ``[n]``, each from 0 to ``count - 1``. ``place`` is scratch memory with one number
per row of the table, ``[count]``, which need not be initialized.
"""

from __future__ import annotations

import numpy as np
from numpy import float32, float64

from tinynet.dtypes import Array

ZERO = float32(0)


def shorten(table: Array, numbers: Array, place: Array, longest: float64) -> None:
    """Scale down the given rows that are longer than ``longest`` to that length.

    Each row is scaled once, where its number comes last.
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
    """Add up the rows that have the same number, in order; return the count of distinct numbers.

    Args:
        numbers, values: ``[n]`` and ``[n, width]``.
        place: scratch memory for the position of each number's sum.
        once, sums: outputs: the distinct numbers, in order of first appearance, and their sums.
    """
    found = 0
    for i in range(numbers.size):
        number, row = numbers[i], values[i]
        at = place[number]  # may be uninitialized: then the number at this position differs
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
    """Subtract ``rate`` times each row of values from the row of the table with its number.

    Args:
        part: ``[width]``. Rounds the products on the way, for the same result as an update of the
            whole table.
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
