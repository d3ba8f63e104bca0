"""Threads: how many there are, what they share, and what a fork does to them.

Results do not depend on the number of threads, nor on their timing.
"""

from tinynet.kernels.threads import openblas as openblas
from tinynet.kernels.threads import processors as processors
from tinynet.kernels.threads.blocks import BLOCK as BLOCK
from tinynet.kernels.threads.blocks import LARGE as LARGE
from tinynet.kernels.threads.blocks import blockwise as blockwise
from tinynet.kernels.threads.blocks import combine_rows as combine_rows
from tinynet.kernels.threads.blocks import in_blocks as in_blocks
from tinynet.kernels.threads.blocks import row_blocks as row_blocks
from tinynet.kernels.threads.blocks import row_by_row as row_by_row
from tinynet.kernels.threads.sharing import VARIABLES as VARIABLES
from tinynet.kernels.threads.sharing import WIDE as WIDE
from tinynet.kernels.threads.sharing import Tally as Tally
from tinynet.kernels.threads.sharing import add_pool as add_pool
from tinynet.kernels.threads.sharing import alone as alone
from tinynet.kernels.threads.sharing import beside as beside
from tinynet.kernels.threads.sharing import chosen as chosen
from tinynet.kernels.threads.sharing import count_of_users as count_of_users
from tinynet.kernels.threads.sharing import each_slice as each_slice
from tinynet.kernels.threads.sharing import fork_safe_lock as fork_safe_lock
from tinynet.kernels.threads.sharing import get_count as get_count
from tinynet.kernels.threads.sharing import in_child as in_child
from tinynet.kernels.threads.sharing import limit as limit
from tinynet.kernels.threads.sharing import set_count as set_count
from tinynet.kernels.threads.sharing import share as share
from tinynet.kernels.threads.sharing import slices as slices
from tinynet.kernels.threads.sharing import used as used

openblas.use_one_thread()
