"""Training on uneven inputs: a rank without inputs answers the messages of the others."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tinynet.core.callsite import warn
from tinynet.core.modes import mode
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import repeated
from tinynet.distributed.buffers import GradBucket
from tinynet.distributed.collectives import all_gather_into_tensor
from tinynet.distributed.process_group import ProcessGroup, default_group
from tinynet.nn.base.module import Module
from tinynet.nn.layers.batchnorm import SyncBatchNorm
from tinynet.nn.layers.embedding import Embedding, EmbeddingBag
from tinynet.nn.parallel.module_state import broadcast_coalesced, check_same_model
from tinynet.nn.parallel.reducer import Reducer
from tinynet.nn.parameter import UninitializedParameter

# ---- uneven inputs ------------------------------------------------------------------------------
# A rank without inputs answers the messages of the others.


class Status(NamedTuple):
    """What a rank is about to do, as numbers of which 0 is no.

    Attributes:
        trains: a forward pass.
        reduces: the averages of a backward pass.
        rebuilds: a new layout of the buckets.
        copies_buffers: the broadcast of buffers.
    """

    trains: int = 0
    reduces: int = 0
    rebuilds: int = 0
    copies_buffers: int = 0


class Join:
    """The exchange of what ranks are about to do, before each forward pass.

    Args:
        ddp: the wrapped model.
        by_initial_size: divide sums by the number of all ranks, not of those that still train.
        throws: raise on all ranks as soon as one has no inputs.
    """

    def __init__(self, ddp: Any, by_initial_size: bool, throws: bool):
        if any(isinstance(module, SyncBatchNorm) for module in ddp.modules()):
            raise NotImplementedError(
                "join() does not work with SyncBatchNorm, whose messages a rank without inputs "
                "cannot answer: give all ranks equally many batches, as DistributedSampler does."
            )
        self.ddp, self.by_initial_size, self.throws = ddp, by_initial_size, throws
        self.last = list(range(ddp.process_group.size()))  # the ranks that trained last

    def exchange(self, own: Status) -> list[Status]:
        """Return what all ranks are about to do."""
        group = self.ddp.process_group
        every = np.empty((group.size(), len(own)), np.int64)
        all_gather_into_tensor(wrap(every), wrap(np.array([own])), group)
        statuses = [Status(*map(int, row)) for row in every]
        training = [rank for rank, status in enumerate(statuses) if status.trains]
        if training:
            self.last = training
            reducer = self.ddp.reducer
            reducer.divisor = group.size() if self.by_initial_size else len(training)
        if self.throws and own.trains and len(training) < group.size():
            raise RuntimeError(
                "Detected at least one rank that exhausted inputs. Throwing across all ranks."
            )
        return statuses

    def answer(self) -> None:
        """Answer the messages of the other ranks until all are without inputs."""
        ddp = self.ddp
        while True:
            statuses = self.exchange(Status())
            training = [status for status in statuses if status.trains]
            if not training:
                return
            if self.throws:
                raise RuntimeError(f"Rank {ddp.process_group.rank()} exhausted all inputs.")
            reduces = any(status.reduces for status in training)
            if any(status.rebuilds for status in training):
                ddp.reducer.rebuild()
            if any(status.copies_buffers for status in training):
                ddp.sync_buffers(self.last[-1])
            ddp.reducer.synced = reduces
            if reduces:
                ddp.reducer.contribute_nothing()


@contextlib.contextmanager
def joining(ddp: Any, by_initial_size: bool, enable: bool, throws: bool) -> Iterator[None]:
    """Do what `DistributedDataParallel.join` documents."""
    if not enable:
        yield
        return
    ddp.joined = join = Join(ddp, by_initial_size, throws)
    try:
        yield
        join.answer()
        state = [*ddp.module.parameters()]
        if ddp.forward_sync_buffers:
            state += ddp.module.buffers()
        broadcast_coalesced(state, ddp.process_group, join.last[-1])
    finally:
        ddp.joined = None
        ddp.reducer.divisor = ddp.process_group.size()


# ---- the module ---------------------------------------------------------------------------------


_UNSUPPORTED = (
    "delay_all_reduce_named_params",
    "param_to_hook_all_reduce",
    "mixed_precision",
    "device_mesh",
    "bucket_cap_mb_list",
)
_CAPTURE = "compile the module inside of it: DistributedDataParallel(tn.compile(module))"
_BROADCAST_BUFFERS = (
    "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
    "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you "
    "rely on buffers NOT being synced at init (e.g. rank-local buffers), keep using "
    "`broadcast_buffers=False` until `init_sync_buffers` is available."
)
_BOTH = (
    "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is "
    "deprecated and its value is ignored when `forward_sync_buffers` is provided."
)
_STATIC = (
    "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will "
    "detect unused parameters automatically, so you do not need to set find_unused_parameters=true,"
    " just be sure these unused parameters will not change during training loop while calling "
    "`_set_static_graph`."
)


class DistributedDataParallel(Module):
    """A wrapper that trains copies of its module in several processes.

    Each rank computes the gradients of its own batch. They are averaged over all ranks while
    backward still runs, so equal optimizers keep all copies equal. The sum is computed in the order
    of ranks: n processes get, to the bit, the weights of one process that accumulates the
    gradients of n batches and divides them by n.

    At the start, the parameters and buffers of rank 0 are copied to all ranks. Names of parameters
    begin with ``module.``, as in the state_dict.

    Args:
        module: the model, the same on all ranks.
        device_ids, output_device: None; there are no GPUs.
        dim: stored, but unused.
        broadcast_buffers: deprecated; see ``forward_sync_buffers``. False also leaves the buffers
            as they are at the start.
        init_sync: compare the models and copy that of rank 0 at the start.
        process_group: the ranks that train; by default all.
        bucket_cap_mb: gradients are reduced in buckets of this size, by default 25 MB (the first: 1
            MB).
        find_unused_parameters: search the graph of each output for parameters that it does not
            depend on. They keep the gradient they have unless another rank uses them.
        check_reduction: deprecated, without effect.
        gradient_as_bucket_view: let each ``.grad`` be a part of its bucket, which saves memory and
            two copies. Clear gradients with ``zero_grad(set_to_none=False)`` then.
        static_graph: the same parameters get the same number of gradients in each iteration; the
            first one finds out which. Allows parameters in several reentrant checkpoints.
        delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision, device_mesh,
        bucket_cap_mb_list: None: not supported.
        skip_all_reduce_unused_params, batched_grad_copy: without effect.
        forward_sync_buffers: copy the buffers of rank 0 to all ranks before each forward pass, if
            gradients are recorded (default: True).

    Shape:
        That of ``module``.

    Raises:
        RuntimeError: no parameter requires a gradient, a parameter is not initialized, or the
            models differ; in ``forward``, a parameter got no gradient in the iteration before.
        ValueError: ``device_ids`` is given, or there is no process group.
        NotImplementedError: an argument that is not supported.

    Example:
        >>> tn.distributed.init_process_group("mpi")  # doctest: +SKIP
        >>> net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))  # doctest: +SKIP
        >>> net(own_part_of_the_batch).mean().backward()  # doctest: +SKIP
    """

    require_backward_grad_sync = True
    static_graph = is_multi_device_module = False
    device_ids = output_device = None
    device_type = "cpu"
    joined: Join | None = None  # in a block of join()

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: Any = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ):
        _refuse(locals())
        super().__init__()
        self.process_group = default_group() if process_group is None else process_group
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        _check_module(module, self.parameters_to_ignore, device_ids, output_device)
        self.module, self.dim = module, dim
        self.device = next(module.parameters()).device
        self.forward_sync_buffers = _syncs_buffers(broadcast_buffers, forward_sync_buffers)
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view, self.bucket_cap_mb = gradient_as_bucket_view, bucket_cap_mb
        if init_sync:
            self._copy_model_of_rank_0(forward_sync_buffers is not None)
        self.reducer = self._make_reducer()
        if static_graph:
            self._set_static_graph()

    def _copy_model_of_rank_0(self, with_buffers: bool) -> None:
        parameters = list(self._named(self.module.named_parameters()))
        check_same_model(self.process_group, parameters)
        state = [tensor for _, tensor in parameters]
        if with_buffers or self.forward_sync_buffers:
            state += [tensor for _, tensor in self._named(self.module.named_buffers())]
        broadcast_coalesced(state, self.process_group)

    def _named(self, named: Any) -> Iterator[tuple[str, Tensor]]:
        return ((name, t) for name, t in named if name not in self.parameters_to_ignore)

    def _make_reducer(self) -> Reducer:
        module = self.module
        makes_sparse = {
            id(layer.weight)
            for layer in module.modules()
            if isinstance(layer, Embedding | EmbeddingBag) and layer.sparse
        }
        named = [(n, p) for n, p in self._named(module.named_parameters()) if p.requires_grad]
        return Reducer(
            named,
            [id(parameter) in makes_sparse for _, parameter in named],
            self.process_group,
            self.bucket_cap_mb,
            self.find_unused_parameters,
            self.gradient_as_bucket_view,
        )

    # ---- forward -----------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        reason = self._why_eager() if mode.tracer is not None else ""
        if reason and (self._reduces() or self.will_sync_module_buffers()):
            mode.tracer.cannot_capture(f"DistributedDataParallel {reason}", _CAPTURE)
        self._before_forward(mode.tracer is not None, *self._buffers_to_sync())
        try:
            output = self.module(*inputs, **kwargs)
        finally:
            self.reducer.after_forward()
        searches = self.find_unused_parameters or self.static_graph
        self._after_forward(*(_tensors(output) if searches else ()))
        return output

    def _reduces(self) -> bool:
        """Return whether gradients are exchanged after this forward pass."""
        return bool(mode.grad) and self.require_backward_grad_sync

    # A captured step repeats these two, so they ask for everything that may change between steps.

    @repeated
    def _before_forward(self, is_captured: bool, *buffers: Tensor) -> None:
        reduces, source = self._reduces(), 0
        copies = self.require_forward_param_sync and bool(buffers)
        if self.joined is not None:
            rebuilds = reduces and self.reducer.will_rebuild()
            self.joined.exchange(Status(1, reduces, rebuilds, copies))
            source = self.joined.last[-1]
        if reduces:
            self.reducer.before_forward(self.joined is None, is_captured)
        if copies:
            broadcast_coalesced(list(buffers), self.process_group, source)

    @repeated
    def _after_forward(self, *outputs: Tensor) -> None:
        if self._reduces():
            self.reducer.before_backward(outputs)
        else:
            self.reducer.before_no_sync()

    def _why_eager(self) -> str:
        """Return why a step with this wrapper runs eagerly; empty if it can be captured."""
        if self.joined is not None:
            return "waits for ranks that have left a join() block"
        if self.find_unused_parameters or self.static_graph:
            return "searches the graph of each step for parameters"
        if self.reducer.comm_hook is not None:
            return "calls a communication hook"
        if any(self.reducer.is_sparse):
            return "exchanges sparse gradients"
        if any(getattr(module, "max_norm", None) for module in self.module.modules()):
            return "exchanges the rows that max_norm scales"
        return ""

    @property
    def broadcast_buffers(self) -> bool:
        """Whether forward copies the buffers of rank 0 to all ranks."""
        return self.forward_sync_buffers

    def _buffers_to_sync(self) -> list[Tensor]:
        if not self.forward_sync_buffers:
            return []
        return [buffer for _, buffer in self._named(self.module.named_buffers())]

    @property
    def require_forward_param_sync(self) -> bool:
        """Whether the last forward pass with gradients was outside ``no_sync``."""
        return self.reducer.synced

    def will_sync_module_buffers(self) -> bool:
        """Return whether the next forward pass copies the buffers of rank 0 to all ranks."""
        return self.require_forward_param_sync and bool(self._buffers_to_sync())

    def sync_buffers(self, source: int = 0) -> None:
        """Copy the buffers of one rank to all others."""
        broadcast_coalesced(self._buffers_to_sync(), self.process_group, source)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Only accumulate gradients in the passes of a ``with`` block.

        The first backward pass whose forward pass is outside averages the sums.

        Example:
            >>> with net.no_sync():  # doctest: +SKIP
            ...     net(first).sum().backward()
            >>> net(second).sum().backward()  # doctest: +SKIP
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> contextlib.AbstractContextManager[None]:
        """Return a ``with`` block in which ranks may train on different numbers of batches.

        A rank that leaves the block answers the messages of the others until they leave it, too;
        then it gets the parameters of those that trained last.

        Args:
            divide_by_initial_world_size: divide sums of gradients by the number of all ranks; else
                of those that still train.
            enable: False for a block without effect.
            throw_on_early_termination: raise on all ranks as soon as one leaves the block.

        Raises:
            NotImplementedError: the module has a SyncBatchNorm.
            RuntimeError: in the block or at its end, with ``throw_on_early_termination``.

        Example:
            >>> with net.join():  # doctest: +SKIP
            ...     for inputs in own_batches:
            ...         net(inputs).sum().backward()
            ...         optimizer.step()
        """
        return joining(self, divide_by_initial_world_size, enable, throw_on_early_termination)

    # ---- options -----------------------------------------------------------------------------

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """Let a function reduce the gradients of each bucket, for example in fewer bits.

        Args:
            state: passed to the hook.
            hook: called with ``state`` and a `GradBucket`; returns a `Future` of the tensor that
                replaces the buffer. It divides by the number of ranks itself.

        Raises:
            TypeError: the hook is not callable.
            RuntimeError: there is a hook already.

        Example:
            >>> def sum_only(state, bucket):
            ...     work = tn.distributed.all_reduce(bucket.buffer(), async_op=True)
            ...     return work.get_future()
            >>> net.register_comm_hook(None, sum_only)  # doctest: +SKIP
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        parameters = inspect.signature(hook).parameters
        if "bucket" in parameters:
            annotation = parameters["bucket"].annotation
            if annotation not in (inspect.Parameter.empty, GradBucket, "dist.GradBucket"):
                raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        if self.reducer.comm_hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        self.reducer.comm_hook = (state, hook)

    def _set_static_graph(self) -> None:
        """Declare that all iterations have the same graph; see ``static_graph``."""
        if self.static_graph:
            warn("You've set static_graph to be True, no need to set it again.")
            return
        self.static_graph = self.reducer.static = True
        if self.find_unused_parameters:
            warn(_STATIC)

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, names: Any) -> None:
        """Let DistributedDataParallel leave parameters and buffers of a module alone."""
        module._ddp_params_and_buffers_to_ignore = list(names)

    def __getstate__(self) -> dict[str, Any]:
        """Return what to pickle: the module and the options, but no connections."""
        if self.process_group is not default_group():
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process"
                " group. That is, when you have called init_process_group and have not passed "
                "process_group argument to DDP constructor"
            )
        state = dict(super().__getstate__())
        del state["process_group"], state["reducer"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled wrapper, and connect it to the default group."""
        super().__setstate__(state)
        self.process_group = default_group()
        self.reducer = self._make_reducer()
        self.reducer.static = self.static_graph


def _refuse(arguments: dict[str, Any]) -> None:
    """Raise for arguments of the constructor that are not supported; warn of a deprecated one."""
    for name in _UNSUPPORTED:
        if arguments[name] is not None:
            raise NotImplementedError(
                f"tinynet's DistributedDataParallel has no {name}: omit the argument."
            )
    if arguments["check_reduction"]:
        warn(
            "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. "
            "Please avoid using it.",
            FutureWarning,
        )


def _check_module(module: Module, ignored: set[str], device_ids: Any, output_device: Any) -> None:
    parameters = [p for name, p in module.named_parameters() if name not in ignored]
    for parameter in parameters:
        if isinstance(parameter, UninitializedParameter):
            raise RuntimeError(
                "Modules with uninitialized parameters can't be used with "
                "`DistributedDataParallel`. Run a dummy forward pass to correctly initialize the "
                "modules"
            )
    if not any(parameter.requires_grad for parameter in parameters):
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that "
            "requires a gradient."
        )
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    if device_ids or output_device:
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
            f"{device_ids}, output_device {output_device}, and module parameters "
            f"{ {p.device for p in parameters} }."
        )


def _syncs_buffers(broadcast_buffers: bool | None, in_forward: bool | None) -> bool:
    """Return whether forward copies buffers, from the deprecated argument and its successor."""
    if broadcast_buffers is not None:
        warn(_BROADCAST_BUFFERS if in_forward is None else _BOTH, FutureWarning)
    found = broadcast_buffers if in_forward is None else in_forward
    return True if found is None else found


def _tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested lists, tuples, dictionaries and objects with fields."""
    if isinstance(value, Tensor):
        yield value
        return
    if isinstance(value, dict):
        parts: Any = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    else:
        parts = [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]
    for part in parts:
        yield from _tensors(part)
