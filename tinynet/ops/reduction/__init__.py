"""Operations over one, several or all dimensions: sums, extrema, statistics, order, counts."""
