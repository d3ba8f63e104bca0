"""Initialisation: functions that fill a tensor in place and return it.

They run under ``no_grad`` and count as in-place writes, which a later backward detects.
"""

from tinynet.nn.init.constants import *
from tinynet.nn.init.deprecated import *
from tinynet.nn.init.fan import _calculate_correct_fan as _calculate_correct_fan
from tinynet.nn.init.fan import _calculate_fan_in_and_fan_out as _calculate_fan_in_and_fan_out
from tinynet.nn.init.fan import calculate_gain as calculate_gain
from tinynet.nn.init.fill import skipped as skipped
from tinynet.nn.init.random import *
from tinynet.nn.init.scaled import *
