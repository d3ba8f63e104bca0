"""Backends: LLVM, which tinynet can use, and PyTorch's, whose switches have no effect."""

from tinynet.backends.absent import cuda as cuda
from tinynet.backends.absent import cudnn as cudnn
from tinynet.backends.absent import mkl as mkl
from tinynet.backends.absent import mkldnn as mkldnn
from tinynet.backends.absent import mps as mps
from tinynet.backends.absent import openmp as openmp
from tinynet.backends.absent import opt_einsum as opt_einsum
from tinynet.backends.switch import llvm as llvm

numba = llvm  # its name before
