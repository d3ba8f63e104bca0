"""torch.testing: what is close, and what the errors say."""

from __future__ import annotations

import importlib

from tests.tools.recorded.programs import Family, attempt

program = Family(__name__, dtype="float64", composition=False)


def testing(T):
    """Return PyTorch's module, or the one that stands for it."""
    inside = "" if T.__name__ == "torch" else "compat."
    return importlib.import_module(f"{T.__name__}.{inside}testing")


def told(check, *args, **kwargs):
    """Return the whole text of an assertion that fails."""
    try:
        check(*args, **kwargs)
    except AssertionError as error:
        return str(error).replace("torch.", "tinynet.")
    return None


@program
def what_is_close(T):
    check = testing(T).assert_close
    one = T.ones(2, dtype=T.float32)
    texts = [
        told(check, one, one + 1e-6),
        told(check, one, one + 1e-4),
        told(check, one.double(), one.double() + 1e-6),
        told(check, one.half(), one.half() * 1.001),
        told(check, T.tensor([1, 2, 3]), T.tensor([1, 2, 4])),
        told(check, T.tensor([True, False]), T.tensor([True, True])),
        told(check, T.tensor([[1.0, 2.0], [3.0, 4.0]]), T.tensor([[1.0, 2.5], [3.0, 8.0]])),
        told(check, T.tensor(1.0), T.tensor(2.0)),
        told(check, one, one + 0.5, rtol=0, atol=1),
        told(check, T.tensor([float("nan")]), T.tensor([float("nan")]), equal_nan=True),
    ]
    del one, check
    return locals()


@program
def other_values(T):
    check = testing(T).assert_close
    one = T.ones(2)
    texts = [
        told(check, 1.0, 1.0 + 1e-9),
        told(check, 1.0, 1.5),
        told(check, 3, 4),
        told(check, True, False),
        told(check, 1.0, 1),
        told(check, None, 3),
        told(check, None, None),
        told(check, [one, 2], [one, 2]),
        told(check, [one], [one, one]),
        told(check, {"a": one, "b": [1, 2]}, {"a": one, "b": [1, 3]}),
        told(check, one, one + 1, msg="ours"),
        told(check, one, T.ones(3)),
        told(check, one, one.int()),
        told(check, one, one.int(), check_dtype=False),
        told(check, T.ones(2, 3), T.ones(3, 2).t(), check_stride=True),
    ]
    del one, check
    return locals()


@program
def what_cannot_be_compared(T):
    module = testing(T)
    errors = [
        attempt(lambda module=module: module.assert_close(1.0, 1.0, rtol=1)),
        attempt(lambda module=module: module.assert_close("a", "a")),
        attempt(
            lambda module=module: module.make_tensor(2, dtype=T.int64, device="cpu", low=3, high=3)
        ),
        attempt(
            lambda module=module: module.make_tensor(
                2, dtype=T.int64, device="cpu", requires_grad=True
            )
        ),
        attempt(
            lambda module=module: module.make_tensor(
                2, dtype=T.uint8, device="cpu", low=300, high=400
            )
        ),
    ]
    del module
    return locals()


@program
def tensors_to_test_with(T):
    make = testing(T).make_tensor
    made = [
        make((3, 4), dtype=dtype, device="cpu", **options)
        for dtype in (T.float32, T.int64, T.bool, T.uint8, T.complex64)
        for options in ({}, {"noncontiguous": True}, {"exclude_zero": True})
    ]
    kinds = [
        (t.dtype, t.shape, t.is_contiguous(), bool((t.abs().double() <= 13).all()))
        for t in made
        if t.dtype is not T.bool
    ]
    constant = make(2, dtype=T.int64, device="cpu", low=3, high=4)
    wanted = make(2, dtype=T.float64, device="cpu", requires_grad=True).requires_grad
    del made, make
    return locals()
