"""Operations on a whole batch at once: what ``vmap`` and batched backward passes run on."""

from tinynet.batching.array import BatchedArray as BatchedArray
from tinynet.batching.array import UnbatchableError as UnbatchableError
from tinynet.batching.level import Level as Level
