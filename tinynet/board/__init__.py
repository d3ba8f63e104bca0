"""TensorBoard logging, and pictures of graphs.

`SummaryWriter` has PyTorch's names. The modules for graphs, in order of use: `watch` records what
runs and in which call of which module, `assemble` builds one graph from it and shortens it (`build`
finds the edges, `gradients` adds backward passes, `costs` counts operations), `recording` splits it
into parts. `pictures`, with the places that `layout` finds, shows it. `writer` writes it: `proto`
and `tensorboardx` make the bytes, `storage` puts them on disk. `summaries` has the other tabs;
`notebook` starts TensorBoard itself.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.board.graphs.build import Arguments as Arguments
    from tinynet.board.graphs.draw import Drawing as Drawing
    from tinynet.board.graphs.draw import draw as draw
    from tinynet.board.graphs.recording import Recording as Recording
    from tinynet.board.graphs.recording import record as record
    from tinynet.board.notebook import launch as launch
    from tinynet.board.storage import BoardWarning as BoardWarning
    from tinynet.board.writer import SummaryWriter as SummaryWriter
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
