"""Sparse tensors, and what they are taken for: products with dense matrices, sums, softmax."""

from tinynet.sparse import rows as rows
from tinynet.sparse.functions import addmm as addmm
from tinynet.sparse.functions import (
    check_sparse_tensor_invariants as check_sparse_tensor_invariants,
)
from tinynet.sparse.functions import log_softmax as log_softmax
from tinynet.sparse.functions import sampled_addmm as sampled_addmm
from tinynet.sparse.functions import softmax as softmax
from tinynet.sparse.functions import spdiags as spdiags
from tinynet.sparse.functions import sum as sum
from tinynet.sparse.tensors import DoubleTensor as DoubleTensor
from tinynet.sparse.tensors import FloatTensor as FloatTensor
from tinynet.sparse.tensors import IntTensor as IntTensor
from tinynet.sparse.tensors import LongTensor as LongTensor
from tinynet.sparse.tensors import SparseTensor as SparseTensor
from tinynet.sparse.tensors import mm as mm
from tinynet.sparse.tensors import sparse_coo_tensor as sparse_coo_tensor
from tinynet.sparse.tensors import sparse_csr_tensor as sparse_csr_tensor
