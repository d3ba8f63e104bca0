"""Backends: numba, which tinynet can use, and PyTorch's, whose switches have no effect."""

from tinynet.backends import cuda as cuda
from tinynet.backends import cudnn as cudnn
from tinynet.backends import mkl as mkl
from tinynet.backends import mkldnn as mkldnn
from tinynet.backends import mps as mps
from tinynet.backends import openmp as openmp
from tinynet.backends import opt_einsum as opt_einsum
from tinynet.backends.switch import numba as numba
