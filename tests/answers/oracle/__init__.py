"""The differential test of operations: one table of cases, answered by PyTorch and by tinynet."""
