"""New tensors: from data, of constants, ranges, random; and what can be asked of them."""
