"""The base class of all optimizers: groups, state, steps, saving; steps as functions of lists."""

from __future__ import annotations

import functools
import inspect
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from tinynet.core import trace
from tinynet.core.callsite import Site, here
from tinynet.core.explanations.arguments import ChecksArguments
from tinynet.core.graph.accumulate_grad import Rows, dense_gradient
from tinynet.core.modes import enable_grad, no_grad
from tinynet.core.tensors.overlap import refuse_overlap
from tinynet.core.tensors.tensor import Tensor, counter_of, wrap
from tinynet.core.tensors.version import Writer
from tinynet.core.trace import repeated
from tinynet.dtypes import Array
from tinynet.optim.base.diagnosis import Diagnosis
from tinynet.optim.base.groups import (
    Group,
    Params,
    State,
    completed,
    grouped,
    packed,
    refuse_mixed,
    refuse_other_groups,
    regrouped,
    unpacked,
)
from tinynet.optim.base.hooks import Hooked, hooked
from tinynet.optim.base.hooks import (
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
)
from tinynet.optim.base.hooks import (
    register_optimizer_step_pre_hook as register_optimizer_step_pre_hook,
)

required: Any = object()  # as a default: the argument must be given


class Optimizer(Hooked, ChecksArguments):
    """Base class of all optimizers.

    A subclass defines ``defaults``, checks its options in ``check``, and updates one array in
    place in ``update``. The base class handles groups, state, gradients, version counters and
    saving.

    A step is not recorded, but counts as a write: a backward pass through values computed before
    the step raises and names the line of the step, because the gradients would be wrong.

    A step warns once if no parameter has a gradient; if a parameter's module no longer exists; if a
    parameter became the result of a recorded operation, so its gradient will never arrive; and if
    a frozen parameter is updated by an old gradient. It cannot detect that you passed a parameter
    of another model by mistake if that model is still in use.

    Args:
        params: parameters; or dicts with ``"params"`` and options for that group; or pairs of a
            name and a parameter.
        defaults: option values for groups that do not specify them.

    Attributes:
        param_groups: the dicts; changing a value (``group["lr"] = ...``) takes effect at once.
        state: a dict of tensors for each parameter.
        stepped: True after the first step.

    Raises:
        ValueError: no parameters, a parameter in two groups, a non-leaf, an option out of range.
        TypeError: a parameter is not a tensor.

    Example:
        A custom optimizer:

        >>> class SignSGD(optim.Optimizer):
        ...     def __init__(self, params, lr=0.1):
        ...         super().__init__(params, {"lr": lr})
        ...
        ...     def update(self, param, grad, state, group):
        ...         param -= group["lr"] * np.sign(grad)
        >>> import numpy as np
        >>> x = tn.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = SignSGD([x])
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x
        tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    # State entries that are numbers (0-d tensors), and entries of the parameter's shape.
    numbers: ClassVar[tuple[str, ...]] = ()
    shaped: ClassVar[tuple[str, ...]] = ()
    _known_step: Any = None  # replaced step() seen when a scheduler was constructed

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = hooked(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Params, defaults: dict[str, Any]):
        self.defaults = defaults
        self.state: State = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._set_up()
        groups = grouped(params, defaults)
        self.check(defaults)
        for group in groups:
            self.add_param_group(group)

    def _set_up(self) -> None:
        """Initialize what is not saved: hooks, and what is remembered between steps."""
        self._set_up_hooks()
        self._diagnosis = Diagnosis()

    # ---- defined by an algorithm -------------------------------------------------------------

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group (or a default) is out of range."""

    def update(self, param: Array, grad: Array, state: dict[str, Any], group: Group) -> None:
        """Update ``param`` in place.

        Args:
            param: the values of one parameter.
            grad: its gradient; must not be changed.
            state: empty at the first step; arrays stored here persist and may be updated in place.
            group: the options.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither update() nor step()")

    def refuse(self, sparse: bool, group: Group) -> None:
        """Raise RuntimeError if sparse (or dense) gradients are not supported."""
        if sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def accepts_row_gradients(self, group: Group) -> bool:
        """Return whether ``update`` accepts a dense gradient as its nonzero rows.

        True if a zero gradient changes neither the parameter nor its state.
        """
        return False

    # ---- groups -----------------------------------------------------------------------------

    def add_param_group(self, param_group: Group) -> None:
        """Add a parameter group, such as layers that you unfreeze later.

        Args:
            param_group: ``"params"``, and options for this group.

        Raises:
            ValueError: a parameter is in another group already or is not a leaf, or an option is
                out of range.
        """
        group = completed(param_group, self.defaults)
        self.check(group)
        refuse_mixed(group, self.param_groups)
        self.param_groups.append(group)
        self._diagnosis.joined(group)

    @repeated
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters, or fill them with zeros.

        Args:
            set_to_none: remove the gradients. ``step`` skips a parameter without a gradient; with
                a gradient of zeros, momentum and weight decay still move it.
        """
        for group in self.param_groups:
            for p in group["params"]:
                grad = p._grad
                if grad is None:
                    continue
                if set_to_none:
                    p._grad = None
                    continue
                if grad._edge is None:
                    grad.requires_grad_(False)
                else:
                    grad.detach_()
                with no_grad():
                    grad.zero_()

    # ---- steps ------------------------------------------------------------------------------

    @hooked
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; return what ``closure`` returns.

        Args:
            closure: computes the gradients (and usually returns the loss); runs with grad mode on.

        Raises:
            RuntimeError: a gradient is sparse, and the algorithm does not support that.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        moved = self._update_all()
        self._diagnosis.stepped(self, moved)
        return loss

    def _update_all(self) -> int:
        """Update all parameters that have a gradient; return the number of them."""
        todo = [
            (
                group,
                [
                    (
                        p,
                        g
                        if (g := p._grad._array).__class__ is np.ndarray
                        else self._rows(p, group),
                    )
                    for p in group["params"]
                    if p._grad is not None
                ],
            )
            for group in self.param_groups
        ]
        for group, ready in todo:
            kinds = [grad.__class__ is np.ndarray for _, grad in ready]
            for dense in (True, False):
                if dense in kinds:
                    self.refuse(not dense, group)
        site = here()
        for group, ready in todo:
            began = time.perf_counter_ns()
            self._update_group(group, ready)
            self._wrote(ready, site, began)
        return sum(len(ready) for _, ready in todo)

    def _rows(self, p: Tensor, group: Group) -> Any:
        """Return a gradient of rows as the algorithm expects it: as rows, or dense."""
        grad: Any = p._grad
        if grad._array.__class__ is not Rows:  # a sparse tensor assigned by the user
            return grad._array.rows()
        if grad._array.lazy and not self.accepts_row_gradients(group):
            grad = dense_gradient(p)
        return grad._array

    def _update_group(self, group: Group, ready: list[tuple[Tensor, Array]]) -> None:
        """Update the parameters of a group that have gradients."""
        for p, grad in ready:
            param = p._array
            refuse_overlap(param)
            held = self.state.get(p, {})
            arrays = {k: v._array if isinstance(v, Tensor) else v for k, v in held.items()}
            try:
                self.update(param, grad, arrays, group)
            except ValueError:
                refuse_other_shape(param, arrays)
                raise
            for name, value in arrays.items():
                if not isinstance(value, np.ndarray):
                    self.state[p][name] = value
                elif name not in held:
                    self.state[p][name] = wrap(value)

    def _wrote(self, ready: Iterable[tuple[Tensor, Array]], site: Site | None, began: int) -> None:
        """Count the writes to the updated parameters, and notify observers."""
        what = step_of(type(self).__name__)
        for p, grad in ready:
            counter_of(p).bump(site, what)
            if not p._requires_grad:
                self._diagnosis.frozen(self, p)
            if trace.observers:
                state = {k: v for k, v in self.state.get(p, {}).items() if isinstance(v, Tensor)}
                sources = [grad, *(v._array for v in state.values())]
                times = began, time.perf_counter_ns()
                trace.report_write(what, p._array, sources, {"state": list(state)}, times)

    # ---- saving -----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the options, with numbers in place of the parameters.

        Returns:
            ``{"state": {number: {name: tensor}}, "param_groups": [{..., "params": [number]}]}``;
            the tensors are the optimizer's own, not copies.
        """
        for hook in [*self._optimizer_state_dict_pre_hooks.values()]:
            hook(self)
        made = packed(self.param_groups, self.state)
        for hook in [*self._optimizer_state_dict_post_hooks.values()]:
            result = hook(self, made)
            made = made if result is None else result
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load copies of the state and the options in ``state_dict``.

        Floating-point state is converted to the dtype of its parameter.

        Raises:
            ValueError: the groups, or the shapes of the state, do not match the parameters.
        """
        state_dict = dict(state_dict)
        for hook in [*self._optimizer_load_state_dict_pre_hooks.values()]:
            result = hook(self, state_dict)
            state_dict = state_dict if result is None else result
        saved = state_dict["param_groups"]
        refuse_other_groups(self.param_groups, saved)
        state = unpacked(self.param_groups, state_dict, self.numbers, self.shaped)
        groups = regrouped(self.param_groups, saved, self.defaults)
        self.__setstate__({"state": state, "param_groups": groups})  # subclasses add options there
        for hook in [*self._optimizer_load_state_dict_post_hooks.values()]:
            hook(self)

    def _loaded(self) -> None:
        """Adapt the loaded or unpickled state."""

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        unpickled = "_diagnosis" not in vars(self)  # else it loads a state_dict
        if unpickled:
            self._set_up()
        self.__dict__.update(state)
        for group in self.param_groups if unpickled else ():
            self._diagnosis.joined(group)
        self._loaded()

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"


def refuse_other_shape(param: Array, arrays: dict[str, Any], names: Iterable[str] = ()) -> None:
    """Raise if the shape of a parameter no longer matches its state's.

    Args:
        param: the parameter's values.
        arrays: its state.
        names: the entries to check; by default all that have dimensions.
    """
    for name in names or arrays:
        array = arrays.get(name)
        if isinstance(array, np.ndarray) and array.ndim and array.shape != param.shape:
            raise RuntimeError(
                f"The shape of a parameter changed from {list(array.shape)} to "
                f"{list(param.shape)} since the optimizer made its {name!r}. Make a new optimizer "
                "after replacing the parameter's data."
            )


@functools.cache
def step_of(optimizer: str) -> Writer:
    """Return the name of an optimizer's writes in messages, with the remedy."""
    return Writer(
        f"{optimizer}.step",
        "call step() after every backward() that needs the old parameters, or run the forward "
        "again after the step; `.detach()` what should not be trained",
    )


Tensors = list[Tensor]


def take_step(
    optimizer: type[Optimizer],
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    state: Mapping[str, list[Any]],
    given: Mapping[str, Any],
    **options: Any,
) -> None:
    """Take a step of an optimizer that has this state, and change parameters and state in place.

    Args:
        optimizer: the class.
        params, grads: the parameters and their gradients.
        state: a list with the entry of each parameter by name; an empty list for an unused one.
            An entry that is None is replaced by the one that the step creates.
        given: the arguments of the function, with options of the class among them.
        options: others, which come first.

    Raises:
        AssertionError: the arguments are those of a scaled loss.
        RuntimeError: the step counts are numbers, and those of the class are tensors.
    """
    if optimizer.numbers and not all(isinstance(step, Tensor) for step in state["step"]):
        raise RuntimeError(
            "API has changed, `state_steps` argument must contain a list of singleton tensors"
        )
    if given.get("grad_scale") is not None or given.get("found_inf") is not None:
        raise AssertionError("Expected grad_scale and found_inf to be None")
    named = inspect.signature(optimizer).parameters.keys() & given.keys() - {"params"}
    options = {name: given[name] for name in named} | options
    leaves = [p.detach().requires_grad_() for p in params]  # with gradients of their own
    stepping = optimizer(leaves, **options)
    for i, (leaf, grad) in enumerate(zip(leaves, grads, strict=True)):
        leaf.grad = grad
        held = {name: entries[i] for name, entries in state.items() if entries}
        stepping.state[leaf].update((k, v) for k, v in held.items() if v is not None)
    stepping.step()
    for name, entries in state.items():
        for i, leaf in enumerate(leaves[: len(entries)]):
            entries[i] = stepping.state[leaf].get(name, entries[i])


def init_group(
    optimizer: Any, group: dict[str, Any], params: Tensors, grads: Tensors, *entries: list[Any]
) -> tuple[bool, bool]:
    """Fill lists with what a step of a group needs, and create missing state.

    Args:
        optimizer: an elementwise optimizer.
        group: one of its groups.
        params, grads: empty; they get the parameters that have a gradient, and these.
        entries: empty lists in the order of PyTorch's ``_init_group``, which get the state.

    Returns:
        Whether a gradient is sparse, and whether a parameter is complex.
    """
    names = optimizer.buffers(group)
    used = {*names, *optimizer.numbers}
    for p in group["params"]:
        if p.grad is None:
            continue
        params.append(p)
        grads.append(p.grad)
        if optimizer.numbers:
            optimizer._slot(p, group, names)
        for name, entry in zip(optimizer.listed, entries, strict=False):
            if name in used:
                entry.append(optimizer.state[p].get(name))
    return any(g.is_sparse for g in grads), any(p.is_complex() for p in params)
