"""Loss scaling against underflow of float16 gradients: ``torch.amp.GradScaler``.

Source: Micikevicius et al., "Mixed precision training", 2018, section 3.2.
"""

from __future__ import annotations

import enum
import math
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from tinynet import dtypes
from tinynet.core.modes import no_grad
from tinynet.core.tensors.tensor import Tensor, wrap
from tinynet.core.trace import repeated

_NO_SCALE = (
    "Attempted {} but _scale is None.  This may indicate your script did not use scaler.scale(loss "
    "or outputs) earlier in the iteration."
)
_NEW_SCALE = (
    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
    "requires_grad=False."
)


class OptState(enum.Enum):
    """The stage of an optimizer between two updates of the scale.

    Example:
        >>> from tinynet.amp.grad_scaler import OptState
        >>> OptState.READY
        <OptState.READY: 0>
    """

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scales losses, unscales gradients, and skips steps whose gradients have inf or NaN.

    The scale grows after ``growth_interval`` steps without inf or NaN, and shrinks after each step
    with them.

    Args:
        device: ``"cpu"``; for a GPU (the default, as in PyTorch) it warns and does nothing.
        init_scale: the initial scale.
        growth_factor: the factor by which the scale grows.
        backoff_factor: the factor for the scale after inf or NaN.
        growth_interval: the number of steps after which it grows.
        enabled: False disables the scaler.

    Raises:
        AssertionError: ``growth_factor`` is not above 1, or ``backoff_factor`` not below.

    Example:
        >>> w = tn.ones(1, requires_grad=True)
        >>> optimizer, scaler = optim.SGD([w], lr=0.5), tn.amp.GradScaler("cpu")
        >>> scaler.scale((w * w).sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> w, scaler.get_scale()
        (tensor([0.], requires_grad=True), 65536.0)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        self._device, self._enabled = device, enabled
        if device == "cuda" and enabled:
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                UserWarning,
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._scale: Tensor | None = None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._stages: dict[int, OptState] = {}
        self._found: dict[int, bool] = {}  # optimizers -> whether gradients were inf or NaN

    # ---- the four calls of an iteration -----------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """Multiply a loss, or losses in lists and tuples, by the scale.

        Raises:
            ValueError: a value is not a tensor.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = wrap(np.asarray(self._init_scale, np.float32))
                self._growth_tracker = self._init_growth_tracker
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    @repeated
    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the scale, to clip them before the step.

        Raises:
            AssertionError: nothing was scaled.
            RuntimeError: they are unscaled already, or the step is done.
            ValueError: a gradient has dtype float16.
        """
        if not self._enabled:
            return
        scale, key = self._checked_scale("unscale_"), id(optimizer)
        stage = self._stages.get(key, OptState.READY)
        if stage is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._unscale(optimizer, 1.0 / float(scale._array))
        self._stages[key] = OptState.UNSCALED

    def _unscale(self, optimizer: Any, factor: float) -> None:
        grads = [p.grad for group in optimizer.param_groups for p in group["params"]]
        grads = [g for g in grads if g is not None]
        if any(g.dtype is dtypes.float16 for g in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        with no_grad():
            for g in grads:
                g.mul_(factor)
        if grads:
            self._found[id(optimizer)] = not all(bool(g.isfinite().all()) for g in grads)

    @repeated
    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Run ``optimizer.step`` on gradients divided by the scale, unless one is inf or NaN.

        Args:
            optimizer: the optimizer.
            *args, **kwargs: arguments of ``optimizer.step``; no closure.

        Raises:
            AssertionError: nothing was scaled, or no parameter has a gradient.
            RuntimeError: the step is done since the last ``update``, or there is a closure.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._checked_scale("step")
        key = id(optimizer)
        if self._stages.get(key) is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if self._stages.get(key) is not OptState.UNSCALED:
            self.unscale_(optimizer)
        if key not in self._found:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if self._found[key] else optimizer.step(*args, **kwargs)
        self._stages[key] = OptState.STEPPED
        return result

    @repeated
    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Update the scale, after the steps of all optimizers.

        Args:
            new_scale: set it to this instead.

        Raises:
            AssertionError: nothing was scaled, or no gradients were checked.
        """
        if not self._enabled:
            return
        scale = self._checked_scale("update")
        if new_scale is not None:
            self._set(scale, new_scale)
        elif not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        else:
            self._grow(scale)
        self._stages, self._found = {}, {}

    def _set(self, scale: Tensor, new_scale: Any) -> None:
        if isinstance(new_scale, Tensor):
            fits = new_scale.dtype is dtypes.float32 and new_scale.numel() == 1
            if not fits or new_scale.requires_grad:
                raise AssertionError(_NEW_SCALE)
        scale.fill_(float(new_scale))

    def _grow(self, scale: Tensor) -> None:
        value = scale._array
        if any(self._found.values()):
            scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = np.float32(float(value) * self._growth_factor)
            if math.isfinite(grown):
                scale.fill_(float(grown))
            self._growth_tracker = 0

    def _checked_scale(self, what: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(_NO_SCALE.format(what))
        return self._scale

    # ---- its settings -----------------------------------------------------------------------

    def get_scale(self) -> float:
        """Return the scale; 1 if the scaler is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale._array)

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor for the scale after inf or NaN."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor for the scale after inf or NaN."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of steps after which the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Return whether the scaler is enabled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the state as numbers; empty if the scaler is disabled."""
        if not self._enabled:
            return {}
        started = self._scale is not None
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker if started else self._init_growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state returned by ``state_dict``.

        Raises:
            RuntimeError: it is empty.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = float(state_dict["scale"])
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        self._growth_factor = float(state_dict["growth_factor"])
        self._backoff_factor = float(state_dict["backoff_factor"])
        self._growth_interval = int(state_dict["growth_interval"])
        self._init_growth_tracker = self._growth_tracker = int(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        if not self._enabled:
            return self.__dict__.copy()
        if self._stages:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at "
                "the end after scaler.update()."
            )
        saved = self.state_dict()
        return self.__dict__ | {
            "_init_scale": saved["scale"],
            "_init_growth_tracker": saved["_growth_tracker"],
            "_scale": None,
        }
