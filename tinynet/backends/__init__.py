"""Backends: LLVM, which tinynet can use, and PyTorch's, whose switches have no effect."""

from tinynet.backends.switches import cuda as cuda
from tinynet.backends.switches import cudnn as cudnn
from tinynet.backends.switches import llvm as llvm
from tinynet.backends.switches import mkl as mkl
from tinynet.backends.switches import mkldnn as mkldnn
from tinynet.backends.switches import mps as mps
from tinynet.backends.switches import openmp as openmp
from tinynet.backends.switches import opt_einsum as opt_einsum

numba = llvm  # its name before
