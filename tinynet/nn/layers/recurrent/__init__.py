"""RNN, LSTM and GRU."""

from tinynet.nn.layers.recurrent.base import *
from tinynet.nn.layers.recurrent.cells import *
from tinynet.nn.layers.recurrent.rnn import *
