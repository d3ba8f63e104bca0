"""The base of all optimizers: groups, state, steps, what is saved."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from tinynet.core.callsite import here
from tinynet.core.modes import enable_grad, no_grad
from tinynet.core.node import RemovableHandle
from tinynet.core.overlap import refuse_overlap
from tinynet.core.tensor import Tensor, counter_of, wrap
from tinynet.dtypes import Array
from tinynet.optim.diagnosis import Diagnosis

Group = dict[str, Any]
Params = Iterable[Tensor] | Iterable[Group] | Iterable[tuple[str, Tensor]]


def _type_name(x: Any) -> str:
    """Return the name of a type as messages have it."""
    if type(x) is Tensor:
        return f"tinynet.{x.dtype.tensor_name}"
    module = type(x).__module__
    return type(x).__qualname__ if module == "builtins" else f"{module}.{type(x).__qualname__}"


class Optimizer:
    """Base of all optimizers.

    An algorithm is its ``defaults``, the constraints on them (``check``), and one ``update`` of
    an array in place. Groups, state, gradients, version counters and saving are done here.

    A step is not recorded, but it counts as a write: a backward through values from before it
    raises and names the line of the step, because the gradients would be wrong.

    A step warns, once each, when no parameter has a gradient; when a parameter is held by nobody
    but the optimizer, or became the result of a recorded operation (its gradient will never
    come); when one that requires no grad any more is moved by an old gradient. It cannot see that
    a parameter of another model that is still in use was passed by mistake.

    Args:
        params: parameters; or dicts with ``"params"`` and options of their own; or pairs of a name
            and a parameter.
        defaults: values of the options that a group does not give.

    Attributes:
        param_groups: the dicts; changing a value (``group["lr"] = ...``) takes effect at once.
        state: for each parameter a dict of tensors.
        stepped: True after the first step.

    Raises:
        ValueError: no parameters, one in two groups, a non-leaf, an option out of range.
        TypeError: a parameter is no tensor.

    Example:
        An optimizer of one's own:

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

    def __init__(self, params: Params, defaults: dict[str, Any]):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {_type_name(params)}"
            )
        if hasattr(params, "parameters"):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {_type_name(params)}. Did you mean its .parameters()?"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._before: dict[int, Callable[..., Any]] = {}
        self._after: dict[int, Callable[..., Any]] = {}
        self._diagnosis = Diagnosis()
        self.stepped = False
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)  # type: ignore[arg-type]

    # ---- what an algorithm defines ----------------------------------------------------------

    def check(self, group: Group) -> None:
        """Raise ValueError if an option of a group is out of range."""

    def update(self, param: Array, grad: Array, state: dict[str, Array], group: Group) -> None:
        """Change ``param`` in place.

        Args:
            param: the values of one parameter.
            grad: its gradient; not to be changed.
            state: empty at the first step; arrays put in are kept, and are changed in place later.
            group: the options.
        """
        raise NotImplementedError(f"{type(self).__name__} defines neither update() nor step()")

    # ---- groups -----------------------------------------------------------------------------

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own, such as layers that join the training later.

        Args:
            param_group: ``"params"``, and any of the options.

        Raises:
            ValueError: a parameter is in another group already, is not a leaf, or an option is
                out of range.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = param_group
        _read_params(group)
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {_type_name(p)}"
                )
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            group.setdefault(name, default)
        self.check(group)
        params = set(group["params"])
        if len(params) != len(group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; each of them is updated as often as it appears",
                UserWarning,
                stacklevel=3,
            )
        for other in self.param_groups:
            if ("param_names" in group) != ("param_names" in other):
                which = "with" if "param_names" in group else "without"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {which} names to the optimizer"
                )
            if not params.isdisjoint(other["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)
        self._diagnosis.joined(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters, or fill them with zeros.

        Args:
            set_to_none: remove; a parameter without gradient is skipped by ``step``, while one
                with a gradient of zeros is still moved by momentum and weight decay.
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

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; return what ``closure`` returns.

        Args:
            closure: computes the gradients (and usually returns the loss); runs with grad mode on.
        """
        for hook in [*self._before.values()]:
            hook(self, (closure,), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        moved = self._update_all()
        self.stepped = True
        self._diagnosis.stepped(self, moved)
        for hook in [*self._after.values()]:
            hook(self, (closure,), {})
        return loss

    def _update_all(self) -> int:
        """Update all parameters that have a gradient; return their number."""
        site, what = here(), f"{type(self).__name__}.step"
        moved = 0
        for group in self.param_groups:
            for p in group["params"]:
                grad = p._grad
                if grad is not None:
                    self._update_one(p, grad._array, group)
                    counter_of(p).bump(site, what)
                    moved += 1
                    if not p._requires_grad:
                        self._diagnosis.frozen(self, p)
        return moved

    def _update_one(self, p: Tensor, grad: Array, group: Group) -> None:
        """Update one parameter, with its state as arrays."""
        param = p._array
        refuse_overlap(param)
        held = self.state.get(p)
        arrays = {} if held is None else {k: _as_array(v) for k, v in held.items()}
        known = len(arrays)
        try:
            self.update(param, grad, arrays, group)
        except ValueError:
            _refuse_other_shape(param, arrays)
            raise
        if len(arrays) != known:
            held = self.state[p]
            for name, value in arrays.items():
                if name not in held:
                    held[name] = wrap(value) if isinstance(value, np.ndarray) else value

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step."""
        return RemovableHandle(self._before, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._after, hook)

    # ---- saving -----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the options, with numbers in the place of parameters.

        Returns:
            ``{"state": {number: {name: tensor}}, "param_groups": [{..., "params": [number]}]}``;
            the tensors are the optimizer's own, not copies.
        """
        numbers: dict[Tensor, int] = {}
        count = 0
        groups = []
        for group in self.param_groups:
            for position, p in enumerate(group["params"], count):
                numbers.setdefault(p, position)
            count += len(group["params"])
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[p] for p in group["params"]]
            groups.append(packed)
        state = {numbers[k] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state and the options of ``state_dict``, as copies.

        Floating-point state is converted to the dtype of its parameter.

        Raises:
            ValueError: the groups, or the shapes of the state, do not fit the parameters.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for group, new in zip(self.param_groups, saved, strict=True):
            if len(group["params"]) != len(new["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
        numbers = chain.from_iterable(group["params"] for group in saved)
        params = chain.from_iterable(group["params"] for group in self.param_groups)
        by_number = dict(zip(numbers, params, strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for number, held in state_dict["state"].items():
            p = by_number.get(number)
            if p is None:
                state[number] = held
            else:
                state[p] = {k: _loaded(number, p, k, v) for k, v in held.items()}
        self.state = state
        self.param_groups = [
            self._regrouped(g, new) for g, new in zip(self.param_groups, saved, strict=True)
        ]

    def _regrouped(self, group: Group, saved: Group) -> Group:
        made = {**saved, "params": group["params"]}
        for name, default in self.defaults.items():
            made.setdefault(name, default)
        if "param_names" in group:
            made.setdefault("param_names", group["param_names"])
        return made

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"


def _read_params(group: Group) -> None:
    """Turn what stands under ``"params"`` into a list of tensors, and take their names off."""
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    if isinstance(params, (set, frozenset)):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    names = [p[0] for p in params if isinstance(p, tuple)]
    if names:
        if len(names) != len(params):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        params = [p[1] for p in params]
        group["param_names"] = names
    group["params"] = params


def _as_array(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value


def _refuse_other_shape(param: Array, arrays: dict[str, Any]) -> None:
    """Say so if a parameter's shape is no longer that of its state."""
    for name, array in arrays.items():
        if isinstance(array, np.ndarray) and name != "step" and array.shape != param.shape:
            raise RuntimeError(
                f"The shape of a parameter changed from {list(array.shape)} to "
                f"{list(param.shape)} since the optimizer made its {name!r}. Make a new optimizer "
                "after replacing the parameter's data."
            )


def _loaded(number: int, p: Tensor, name: str, value: Any) -> Any:
    """Return a copy of one value of a loaded state, in the dtype of its parameter."""
    if name == "step" and not isinstance(value, Tensor):
        return wrap(np.array(value, np.float32))
    if not isinstance(value, Tensor):
        return value
    array, param = value._array, p._array
    if name == "step":
        return wrap(array.copy())
    if array.shape != param.shape:
        raise ValueError(
            f"The state {name!r} of parameter {number} must have the parameter's shape "
            f"{list(param.shape)}. Got {list(array.shape)} instead."
        )
    return wrap(array.astype(param.dtype if array.dtype.kind == "f" else array.dtype))


def number(value: Any) -> float:
    """Return an option as a Python number; a tensor of one element counts as one."""
    return float(value)


def refuse_negative(group: Group, **shown: str) -> None:
    """Raise ValueError for an option below zero (or NaN); ``shown`` says what messages call it."""
    for name, what in shown.items():
        if not group[name] >= 0:
            raise ValueError(f"Invalid {what}: {group[name]}")


def refuse_differentiable(group: Group) -> None:
    """Raise ValueError where steps are asked to be recorded."""
    if group.get("differentiable"):
        raise ValueError(
            "The 'differentiable' parameter of an optimizer must be False. Got True instead. "
            "Steps are not recorded; to differentiate through one, write it with operations."
        )
