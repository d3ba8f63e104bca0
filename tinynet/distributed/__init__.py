"""Training with several processes, with the names of ``torch.distributed``, on MPI.

    mpirun -n 4 python train.py

starts four processes of a program, and ``init_process_group("mpi")`` connects them.
"""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach
from tinynet.distributed.mpi import set_variables as _set_variables

if TYPE_CHECKING:
    from tinynet.distributed.buffers import GradBucket as GradBucket
    from tinynet.distributed.collectives import all_gather as all_gather
    from tinynet.distributed.collectives import all_gather_into_tensor as all_gather_into_tensor
    from tinynet.distributed.collectives import all_to_all as all_to_all
    from tinynet.distributed.collectives import all_to_all_single as all_to_all_single
    from tinynet.distributed.collectives import barrier as barrier
    from tinynet.distributed.collectives import broadcast as broadcast
    from tinynet.distributed.collectives import gather as gather
    from tinynet.distributed.collectives import scatter as scatter
    from tinynet.distributed.constants import Backend as Backend
    from tinynet.distributed.constants import DebugLevel as DebugLevel
    from tinynet.distributed.constants import ReduceOp as ReduceOp
    from tinynet.distributed.constants import default_pg_timeout as default_pg_timeout
    from tinynet.distributed.constants import reduce_op as reduce_op
    from tinynet.distributed.divergence import get_debug_level as get_debug_level
    from tinynet.distributed.divergence import set_debug_level as set_debug_level
    from tinynet.distributed.divergence import (
        set_debug_level_from_env as set_debug_level_from_env,
    )
    from tinynet.distributed.groups import destroy_process_group as destroy_process_group
    from tinynet.distributed.groups import get_backend as get_backend
    from tinynet.distributed.groups import get_global_rank as get_global_rank
    from tinynet.distributed.groups import get_group_rank as get_group_rank
    from tinynet.distributed.groups import get_pg_count as get_pg_count
    from tinynet.distributed.groups import get_process_group_ranks as get_process_group_ranks
    from tinynet.distributed.groups import get_rank as get_rank
    from tinynet.distributed.groups import get_world_size as get_world_size
    from tinynet.distributed.groups import init_process_group as init_process_group
    from tinynet.distributed.groups import is_initialized as is_initialized
    from tinynet.distributed.groups import new_group as new_group
    from tinynet.distributed.groups import new_subgroups as new_subgroups
    from tinynet.distributed.groups import (
        new_subgroups_by_enumeration as new_subgroups_by_enumeration,
    )
    from tinynet.distributed.mpi import (
        get_default_backend_for_device as get_default_backend_for_device,
    )
    from tinynet.distributed.mpi import get_node_local_rank as get_node_local_rank
    from tinynet.distributed.mpi import is_available as is_available
    from tinynet.distributed.mpi import is_backend_available as is_backend_available
    from tinynet.distributed.mpi import is_gloo_available as is_gloo_available
    from tinynet.distributed.mpi import is_mpi_available as is_mpi_available
    from tinynet.distributed.mpi import is_nccl_available as is_nccl_available
    from tinynet.distributed.mpi import (
        is_torchelastic_launched as is_torchelastic_launched,
    )
    from tinynet.distributed.mpi import is_ucc_available as is_ucc_available
    from tinynet.distributed.mpi import is_xccl_available as is_xccl_available
    from tinynet.distributed.objects import all_gather_object as all_gather_object
    from tinynet.distributed.objects import broadcast_object_list as broadcast_object_list
    from tinynet.distributed.objects import gather_object as gather_object
    from tinynet.distributed.objects import recv_object_list as recv_object_list
    from tinynet.distributed.objects import scatter_object_list as scatter_object_list
    from tinynet.distributed.objects import send_object_list as send_object_list
    from tinynet.distributed.point_to_point import P2POp as P2POp
    from tinynet.distributed.point_to_point import batch_isend_irecv as batch_isend_irecv
    from tinynet.distributed.point_to_point import irecv as irecv
    from tinynet.distributed.point_to_point import isend as isend
    from tinynet.distributed.point_to_point import monitored_barrier as monitored_barrier
    from tinynet.distributed.point_to_point import recv as recv
    from tinynet.distributed.point_to_point import send as send
    from tinynet.distributed.process_group import GroupMember as GroupMember
    from tinynet.distributed.process_group import ProcessGroup as ProcessGroup
    from tinynet.distributed.process_group import group as group
    from tinynet.distributed.reductions import all_reduce as all_reduce
    from tinynet.distributed.reductions import all_reduce_coalesced as all_reduce_coalesced
    from tinynet.distributed.reductions import reduce as reduce
    from tinynet.distributed.reductions import reduce_scatter as reduce_scatter
    from tinynet.distributed.reductions import reduce_scatter_tensor as reduce_scatter_tensor
    from tinynet.distributed.work import Future as Future
    from tinynet.distributed.work import Work as Work
else:
    __getattr__, __dir__, __all__ = _attach(__name__)

_set_variables()
