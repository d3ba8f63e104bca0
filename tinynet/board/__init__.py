"""TensorBoard: what a training run writes for people to look at.

`SummaryWriter` has PyTorch's names. Layers, lowest first: `proto` and `tensorboardx` make bytes,
`storage` puts them on disk, `graph` builds and checks graphs, `scopes`, `snapshot` and `recorder`
see a model run, `writer` is the face. `launching` and `notebook` start TensorBoard itself.
"""

from tinynet.board.draw import Drawing as Drawing
from tinynet.board.draw import draw as draw
from tinynet.board.launching import launch as launch
from tinynet.board.recording import Recording as Recording
from tinynet.board.recording import record as record
from tinynet.board.storage import BoardWarning as BoardWarning
from tinynet.board.structures import Arguments as Arguments
from tinynet.board.writer import SummaryWriter as SummaryWriter
