"""Batched execution of operations, for ``vmap`` and batched backward passes."""

from tinynet.ops.batching.array import BatchedArray as BatchedArray
from tinynet.ops.batching.array import UnbatchableError as UnbatchableError
from tinynet.ops.batching.level import Level as Level
from tinynet.ops.batching.level import by_rows as by_rows
from tinynet.ops.batching.level import jacobian_columns as jacobian_columns
from tinynet.ops.batching.level import jacobian_rows as jacobian_rows
from tinynet.ops.batching.level import one_by_one as one_by_one
