"""Losses."""

from tinynet.nn.functional.losses.classification import *
from tinynet.nn.functional.losses.ctc import *
from tinynet.nn.functional.losses.likelihoods import *
from tinynet.nn.functional.losses.linear_cross_entropy import *
from tinynet.nn.functional.losses.margin import *
from tinynet.nn.functional.losses.regression import *
from tinynet.nn.functional.losses.triplet import *
