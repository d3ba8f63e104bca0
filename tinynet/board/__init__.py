"""TensorBoard, and pictures of graphs: what a training run writes for people to look at.

`SummaryWriter` has PyTorch's names. What makes graphs, in the order in which it works: `watch`
notes what runs (`scopes`: in which call of which module), `assemble` makes one graph of it (`build`
finds the edges, `gradients` adds backward, `flops` counts), `recording` takes that apart, `fold`
makes it small, `conceptual` gives the overview. Then `formats` and `picture` (`svg`, `layered`)
show it, and `publish` writes it: `profile`, `proto` and `tensorboardx` make bytes, `storage` puts
them on disk. `summaries` has the other tabs;
`launching` and `notebook` start TensorBoard itself.
"""

from tinynet.board.graphs.draw import Drawing as Drawing
from tinynet.board.graphs.draw import draw as draw
from tinynet.board.graphs.recording import Recording as Recording
from tinynet.board.graphs.recording import record as record
from tinynet.board.graphs.structures import Arguments as Arguments
from tinynet.board.launching import launch as launch
from tinynet.board.storage import BoardWarning as BoardWarning
from tinynet.board.writer import SummaryWriter as SummaryWriter
