"""Reductions over dimensions: sums, extrema, statistics, sorting, counts."""
