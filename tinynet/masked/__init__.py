"""Reductions and normalizations over the elements that a mask selects: ``torch.masked``.

A single rule builds them all: the identity of the operation replaces each element whose mask is
False, and the function of the same name does the rest. If the mask selects no element, the result
is the identity, or NaN if there is none.
"""

from tinynet.masked.normalization import cumprod as cumprod
from tinynet.masked.normalization import cumsum as cumsum
from tinynet.masked.normalization import log_softmax as log_softmax
from tinynet.masked.normalization import logaddexp as logaddexp
from tinynet.masked.normalization import normalize as normalize
from tinynet.masked.normalization import softmax as softmax
from tinynet.masked.normalization import softmin as softmin
from tinynet.masked.reductions import amax as amax
from tinynet.masked.reductions import amin as amin
from tinynet.masked.reductions import argmax as argmax
from tinynet.masked.reductions import argmin as argmin
from tinynet.masked.reductions import logsumexp as logsumexp
from tinynet.masked.reductions import mean as mean
from tinynet.masked.reductions import median as median
from tinynet.masked.reductions import norm as norm
from tinynet.masked.reductions import prod as prod
from tinynet.masked.reductions import std as std
from tinynet.masked.reductions import sum as sum
from tinynet.masked.reductions import var as var
