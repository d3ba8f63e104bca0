"""Linear algebra on matrices and batches of matrices, under the names of ``torch.linalg``."""

from tinynet.ops.contraction import multi_dot as multi_dot
