"""The reducer: averages gradients over all ranks while backward still computes others."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinynet.core.graph.accumulate_grad import Rows, sparse
from tinynet.core.graph.engine import reachable
from tinynet.core.graph.inplace import wrote
from tinynet.core.graph.node import AccumulateGrad
from tinynet.core.modes import mode
from tinynet.core.seams import shared_weights
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.tensors.version import Writer
from tinynet.core.trace import Repeating
from tinynet.distributed.buffers import GradBucket
from tinynet.distributed.constants import ReduceOp
from tinynet.distributed.objects import broadcast_object_list
from tinynet.distributed.process_group import ProcessGroup
from tinynet.distributed.reductions import all_reduce, gather_rows
from tinynet.distributed.work import Future
from tinynet.dtypes import Array
from tinynet.nn.parallel.module_state import Renormalization
from tinynet.ops.creation.constructors import tensor

# ---- sparse reduction ---------------------------------------------------------------------------
# The gradients of parameters whose modules make sparse ones.


def rows_of_gradient(parameter: Tensor, name: str) -> Rows:
    """Return the gradient of a parameter whose module makes sparse ones.

    Raises:
        RuntimeError: the gradient is dense.
    """
    array = parameter._array
    grad: Any = None if parameter.grad is None else parameter.grad._array
    if grad is None:
        return Rows(np.empty(0, np.int64), np.empty((0, *array.shape[1:]), array.dtype), len(array))
    if grad.__class__ is not Rows:
        raise RuntimeError(
            f"Expected variable to have sparse gradient: {name} is the weight of an embedding with "
            "sparse=True, but another use of it made its gradient dense. Pass sparse=False."
        )
    found: Rows = grad
    return found


# ---- buckets ------------------------------------------------------------------------------------
# Buckets: the gradients of several parameters side by side in one array, for one reduction.


MB = 1 << 20


def assign(
    sizes: Sequence[tuple[Any, int]], limits: Sequence[int], alone: Sequence[bool] = ()
) -> list[list[int]]:
    """Distribute parameters over buckets of one dtype each, in their order.

    A bucket is full when it has reached its limit.

    Args:
        sizes: the dtype and the number of bytes of each parameter.
        limits: of the first, the second, ... bucket of each dtype; the last holds for all others.
        alone: the parameters that have a bucket of their own.

    Returns:
        The indices of the parameters in each bucket. Buckets begin in the order of parameters.
    """
    buckets: list[list[int]] = []
    filling: dict[Any, list[int]] = {}
    filled: dict[Any, int] = {}
    full: dict[Any, int] = {}
    for index, (kind, nbytes) in enumerate(sizes):
        if alone and alone[index]:
            buckets.append([index])
            continue
        if kind not in filling:
            filling[kind], filled[kind] = [], 0
            buckets.append(filling[kind])
        filling[kind].append(index)
        filled[kind] += nbytes
        if filled[kind] >= limits[min(full.get(kind, 0), len(limits) - 1)]:
            del filling[kind]
            full[kind] = full.get(kind, 0) + 1
    return buckets


class Bucket:
    """The gradients of some parameters.

    Args:
        indices: of the parameters, in their order in the bucket.
        parameters: the parameters, of one dtype.

    Attributes:
        flat: all gradients, as one tensor.
        slots: the part of ``flat`` for each parameter, in its shape.
        missing: the number of parameters whose gradient has not arrived yet.
        work: the reduction that is under way, or None.
        rows: of a sparse gradient: the average, once the reduction has completed.
    """

    def __init__(self, indices: Sequence[int], parameters: Sequence[Tensor]):
        self.indices, self.parameters = list(indices), list(parameters)
        kind = parameters[0]._array.dtype
        ends = np.cumsum([0, *(p._array.size for p in parameters)])
        array = np.zeros(int(ends[-1]), kind)
        self.flat = wrap(array)
        self.slots: list[Array] = [
            array[a:b].reshape(p._array.shape)
            for a, b, p in zip(ends, ends[1:], parameters, strict=False)
        ]
        self.missing = len(self.indices)
        self.work: Any = None
        self.rows: list[Rows] = []

    def fill(self, place: int) -> None:
        """Copy the gradient of a parameter to its slot; zeros if it has none."""
        grad, slot = self.parameters[place].grad, self.slots[place]
        if grad is None:
            slot[...] = 0
        elif grad._array is not slot and not _same_memory(grad._array, slot):
            slot[...] = grad._array

    def replace(self, flat: Tensor) -> None:
        """Copy the result of a communication hook to the slots."""
        if flat is not self.flat:
            self.flat._array[...] = flat._array.reshape(-1)


def _same_memory(a: Array, b: Array) -> bool:
    return a.ctypes.data == b.ctypes.data and a.strides == b.strides and a.size > 0


# ---- reducer ------------------------------------------------------------------------------------


WRITER = Writer("DistributedDataParallel (average)", "use a copy of the gradient: `p.grad.clone()`")
Named = tuple[str, Tensor]


class Reducer(Repeating):
    """Averages the gradients of parameters over the ranks of a group.

    A hook of each parameter reports its gradient. A bucket whose gradients have all arrived is
    reduced in the background. Buckets are reduced in one order, the same on all ranks.

    Args:
        named: the names and the parameters.
        is_sparse: for each parameter, whether its gradient is sparse.
        group: the ranks.
        cap_mb: the size of a bucket in MB; None: 1 for the first, 25 for the others.
        find_unused: look for parameters that a forward pass did not use.
        as_view: let ``.grad`` be a part of its bucket.

    Attributes:
        divisor: what sums are divided by: the number of ranks.
        static: the same gradients arrive in each pass.
        synced: the last forward pass with gradients was outside ``no_sync``.
        is_captured: the step is being captured. Its program has no end of the backward pass to wait
            for, so the last gradient ends the reduction.
    """

    def __init__(
        self,
        named: Sequence[Named],
        is_sparse: Sequence[bool],
        group: ProcessGroup,
        cap_mb: float | None,
        find_unused: bool,
        as_view: bool,
    ):
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]
        self.is_sparse, self.group = list(is_sparse), group
        self.find_unused, self.as_view = find_unused, as_view
        self.limits = [MB, 25 * MB] if cap_mb is None else [int(cap_mb * MB)]
        self.divisor = group.size()
        self.static = self.is_captured = False
        self.synced = True
        self.comm_hook: tuple[Any, Callable[..., Any]] | None = None
        self._expected: list[int] | None = None  # static: arrivals of each parameter in a pass
        self._used_anywhere: Any = None  # static: whether any rank uses the parameter
        self._order: list[int] | None = []  # of arrival, until the buckets are rebuilt from it
        self._used: set[int] = set()  # since the last reduction
        self._active = self._started = False
        limits = self.limits if find_unused else [2**62]
        everyone = range(len(named))
        self._lay_out(self._assigned(everyone, limits)[::-1])
        self._hooks = [self._hook(index) for index in everyone]
        self.renormalizations = [Renormalization(p, group) for p in self.parameters if p.ndim == 2]
        for one in self.renormalizations:
            shared_weights[id(one.weight)] = one
        weakref.finalize(self, _remove, self._hooks, [id(p) for p in self.parameters])

    # ---- buckets -----------------------------------------------------------------------------

    def _assigned(self, order: Sequence[int], limits: Sequence[int]) -> list[list[int]]:
        arrays = [self.parameters[index]._array for index in order]
        sizes = [(array.dtype, array.nbytes) for array in arrays]
        alone = [self.is_sparse[index] for index in order]
        return [[order[place] for place in part] for part in assign(sizes, limits, alone)]

    def _lay_out(self, buckets: Sequence[Sequence[int]]) -> None:
        self.buckets = [Bucket(part, [self.parameters[i] for i in part]) for part in buckets]
        self._place = {
            index: (bucket, place)
            for bucket in self.buckets
            for place, index in enumerate(bucket.indices)
        }

    def will_rebuild(self) -> bool:
        """Return whether the next iteration begins with a new layout of the buckets."""
        return bool((not self.find_unused or self.static) and self._order and not self._active)

    def rebuild(self) -> None:
        """Lay out the buckets in the order in which gradients arrived on rank 0."""
        order, self._order = self._order, None
        found: list[Any] = [order]
        broadcast_object_list(found, group=self.group, group_src=0)
        rest = set(range(len(self.parameters))) - set(found[0])
        self._lay_out(self._assigned([*found[0], *sorted(rest, reverse=True)], self.limits))

    # ---- one iteration -----------------------------------------------------------------------

    def before_forward(self, shares_lookups: bool = True, is_captured: bool = False) -> None:
        """Prepare the buckets; raise if gradients of the iteration before are missing.

        Args:
            shares_lookups: all ranks make the same look-ups in embeddings.
            is_captured: see the attribute.
        """
        self.is_captured = is_captured
        if self._started:
            lost = [i for i in range(len(self.parameters)) if not self._is_ready(i)]
            named = [(index, self.names[index]) for index in lost]
            raise unfinished(self.group.rank(), named, self.static)
        if self.will_rebuild():
            self.rebuild()
        for one in self.renormalizations:
            one.complete()
            one.is_shared = shares_lookups

    def after_forward(self) -> None:
        """Note that the forward pass has ended, even by an error."""
        for one in self.renormalizations:
            one.is_shared = False

    def before_no_sync(self) -> None:
        """Expect no gradients of a backward pass."""
        self.synced = False

    def before_backward(self, outputs: Sequence[Tensor]) -> None:
        """Expect the gradients of one backward pass.

        Args:
            outputs: those of the forward pass, where the search for unused parameters starts.
        """
        self.synced = self._active = True
        self._started = False
        self._ready: set[int] = set()
        self._arrived = [0] * len(self.parameters)
        self._next = 0
        self._unused: list[int] = []
        for bucket in self.buckets:
            bucket.missing, bucket.work = len(bucket.indices), None
        if self.static and self._expected is not None:
            self._unused = [i for i, times in enumerate(self._expected) if not times]
        elif self.static or self.find_unused:
            differentiable = [output for output in outputs if output.requires_grad]
            for output in differentiable:
                output.register_hook(self._complete_at_the_end)
            if not self.static:
                _, leaves = reachable([t._edge[0] if t._edge else t for t in differentiable])
                self._unused = [i for i, p in enumerate(self.parameters) if id(p) not in leaves]

    def _hook(self, index: int) -> Any:
        reducer = weakref.ref(self)

        def arrived(_inputs: Any, grads: tuple[Any, ...]) -> None:
            alive = reducer()
            if alive is not None:
                alive.arrived(index, grads[0] is not None)

        return AccumulateGrad(self.parameters[index]).register_hook(arrived)

    def arrived(self, index: int, exists: bool = True) -> None:
        """Note that ``.grad`` of a parameter has its value of this pass."""
        if exists:
            self._used.add(index)
        if not self._active:
            return
        self._started = True
        self._arrived[index] += 1
        if self._order is not None and self._arrived[index] == 1:
            self._order.append(index)
        if self.static:
            if self._expected is None:
                return
            if self._arrived[index] > self._expected[index]:
                raise changed_graph(self.names[index])
            if self._arrived[index] < self._expected[index]:
                return
        unused, self._unused = self._unused, []
        for other in unused:
            self._mark(other)
        self._mark(index)

    def _is_ready(self, index: int) -> bool:
        return bool(self._arrived[index]) if self.static else index in self._ready

    def _mark(self, index: int) -> None:
        """Put a gradient into its bucket, and reduce all buckets that are full and next."""
        if index in self._ready:
            raise ready_twice(index, self.names[index])
        self._ready.add(index)
        bucket, place = self._place[index]
        if not self.is_sparse[index]:
            grad = self.parameters[index].grad
            if grad is not None and grad.is_sparse:
                raise sparse_in_bucket(self.names[index])
            bucket.fill(place)
        bucket.missing -= 1
        while self._next < len(self.buckets) and not self.buckets[self._next].missing:
            self._next += 1
            # There is nothing left to hide the last reduction behind: no thread for it.
            if self._next < len(self.buckets):
                self._launch(self.buckets[self._next - 1])
        if self._next == len(self.buckets):
            if self.is_captured or mode.backward_pass is None:
                self._finish()
            else:
                mode.backward_pass.callbacks.append(self._finish)

    def _launch(self, bucket: Bucket, in_background: bool = True) -> None:
        first = bucket.indices[0]
        if self.is_sparse[first]:
            own = rows_of_gradient(bucket.parameters[0], self.names[first])
            body, bucket.rows = gather_rows(self.group, own, self.divisor)
            bucket.work = self.group.run("DistributedDataParallel", body, [], in_background)
        elif self.comm_hook is not None:
            state, hook = self.comm_hook
            is_last = bucket is self.buckets[-1]
            number = self.buckets.index(bucket)
            slots = [wrap(slot) for slot in bucket.slots]
            view = GradBucket(number, bucket.flat, slots, bucket.parameters, is_last)
            bucket.work = hook(state, view)
            if not isinstance(bucket.work, Future):
                raise no_future(bucket.work)
        else:
            bucket.work = self.average(bucket.flat, in_background)

    def average(self, flat: Tensor, in_background: bool) -> Any:
        """Start the reduction of a bucket; return its `Work`, or None if it has ended."""
        op = ReduceOp.AVG if self.divisor == self.group.size() else ReduceOp.SUM
        return all_reduce(flat, op, self.group, in_background)

    def contribute_nothing(self) -> None:
        """Take part in the reductions of a backward pass of the other ranks."""
        for bucket in self.buckets:
            bucket.flat._array[...] = 0
            if self.is_sparse[bucket.indices[0]]:
                bucket.parameters[0].grad = None
            bucket.work = None
            self._launch(bucket, in_background=False)
            if bucket.work is not None:
                bucket.work.wait()
        self._used = set()
        self._used_by_any()

    # ---- the end of the pass -----------------------------------------------------------------

    def _complete_at_the_end(self, _grad: Any) -> None:
        """Complete the reduction at the end of the pass that reached an output, the outermost."""
        callbacks = mode.backward_pass.callbacks
        if self._active and self._complete not in callbacks:
            callbacks.append(self._complete)

    def _complete(self) -> None:
        """Reduce the gradients of parameters that got none, or, in a first static pass, of all."""
        if self.static and self._expected is None:
            self._expected = [*self._arrived]
        if self._active:
            self._unused = []
            for index in range(len(self.parameters)):
                if index not in self._ready:
                    self._mark(index)

    def _finish(self) -> None:
        """Wait for all reductions, and put the averages into ``.grad``."""
        self._active = self._started = False
        if self.buckets[-1].work is None:
            self._launch(self.buckets[-1], in_background=False)
        for bucket in self.buckets:
            if bucket.work is not None:
                result = bucket.work.wait()
                if self.comm_hook is not None and isinstance(bucket.work, Future):
                    bucket.replace(result[0] if isinstance(result, list) else result)
            if self.divisor != self.group.size() and self.comm_hook is None:
                bucket.flat._array /= self.divisor  # see ``average``
        for one in self.renormalizations:
            one.complete()
        used = self._used_by_any()
        self._used = set()
        for bucket in self.buckets:
            for place, index in enumerate(bucket.indices):
                if used is None or used[index]:
                    self._store(bucket, place)
            bucket.work = None

    def _used_by_any(self) -> Any:
        """Return for each parameter whether a rank has used it; None if all have been."""
        if self.static and self._used_anywhere is not None:
            return self._used_anywhere
        if not (self.find_unused or self.static):
            return None
        flags = tensor([index in self._used for index in range(len(self.parameters))])
        all_reduce(flags, ReduceOp.MAX, self.group)
        self._used_anywhere = flags._array
        return flags._array

    def _store(self, bucket: Bucket, place: int) -> None:
        parameter = bucket.parameters[place]
        grad = parameter.grad
        if self.is_sparse[bucket.indices[0]]:
            (rows,) = bucket.rows
            if grad is None:
                parameter.grad = sparse(rows)
                return
            grad._array = rows  # type: ignore[assignment]
        elif grad is None:
            slot = bucket.slots[place]
            parameter.grad = wrap(slot if self.as_view else slot.copy())
            return
        elif self.as_view:
            grad._array = bucket.slots[place]
        else:
            grad._array[...] = bucket.slots[place]
        wrote(grad, WRITER)


def _remove(hooks: Sequence[Any], weights: Sequence[int]) -> None:
    for hook in hooks:
        hook.remove()
    for key in weights:
        shared_weights.pop(key, None)


# ---- messages -----------------------------------------------------------------------------------
# PyTorch's errors about gradients that do not arrive as expected, with names and remedies.


def unfinished(rank: int, missing: Sequence[tuple[int, str]], static: bool) -> RuntimeError:
    """Return the error of a forward pass after an incomplete backward pass.

    Args:
        rank: this rank.
        missing: indices and names of the parameters without gradients.
        static: ``static_graph`` is set.
    """
    text = "Expected to have finished reduction in the prior iteration before starting a new one. "
    if static:
        text += (
            "This error indicates that your training graph has changed in this iteration, e.g., "
            "one parameter is used in first iteration, but then got unused in the second "
            "iteration. this is not compatible with static_graph set to True."
        )
    else:
        text += (
            "This error indicates that your module has parameters that were not used in producing "
            "loss. You can enable unused parameter detection by passing the keyword argument "
            "`find_unused_parameters=True` to `tinynet.nn.parallel.DistributedDataParallel`, and "
            "by \nmaking sure all `forward` function outputs participate in calculating loss."
        )
    indices = " ".join(str(index) for index, _ in missing)
    names = ", ".join(name for _, name in missing)
    return RuntimeError(
        f"{text}\nParameter indices which did not receive grad for rank {rank}: {indices}\n"
        f"  unused   {names}"
    )


def ready_twice(index: int, name: str) -> RuntimeError:
    """Return the error of a parameter whose gradient arrives twice in a pass."""
    return RuntimeError(
        "Expected to mark a variable ready only once. This error is caused by one of the "
        "following reasons: 1) Use of a module parameter outside the `forward` function. Please "
        "make sure model parameters are not shared across multiple concurrent forward-backward "
        "passes. or try to use static_graph=True as a workaround if this module graph does not "
        "change during training loop. 2) Reused parameters in multiple reentrant backward passes. "
        "For example, if you use multiple `checkpoint` functions to wrap the same part of your "
        "model: pass use_reentrant=False to them, or static_graph=True.\n"
        f"Parameter at index {index} with name {name} has been marked as ready twice."
    )


def changed_graph(name: str) -> RuntimeError:
    """Return the error of a parameter that gets more gradients than in the first iteration."""
    return RuntimeError(
        "Your training graph has changed in this iteration, e.g., one parameter is unused in "
        "first iteration, but then got used in the second iteration. this is not compatible with "
        f"static_graph set to True. The parameter is {name}: pass find_unused_parameters=True "
        "instead of static_graph=True."
    )


def sparse_in_bucket(name: str) -> RuntimeError:
    """Return the error of a sparse gradient that no module announced."""
    return RuntimeError(
        f"Expected variable to have dense gradient: that of {name} is sparse, but it is not the "
        "weight of an nn.Embedding or nn.EmbeddingBag with sparse=True. Use one of these modules."
    )


def no_future(value: Any) -> RuntimeError:
    """Return the error of a communication hook that returns something else."""
    kind = type(value)
    return RuntimeError(
        "DDP communication hook's callback must return a tinynet.distributed.Future object, but "
        f"got {kind.__module__}.{kind.__qualname__}: return "
        "`dist.all_reduce(bucket.buffer(), async_op=True).get_future()`, or `.then(...)` of it."
    )
