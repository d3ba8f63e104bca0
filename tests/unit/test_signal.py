"""tinynet.signal.windows: against numpy's windows, and what is true of all of them.

tests/answers/pytorch_tables compares values with PyTorch's.
"""

import inspect

import numpy as np
import pytest

import tinynet as tn
from tinynet.signal import windows

NUMPY = {
    "bartlett": np.bartlett,
    "blackman": np.blackman,
    "hamming": np.hamming,
    "hann": np.hanning,
    "kaiser": lambda n: np.kaiser(n, 12.0),
}
ALL = [
    *NUMPY, "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "nuttall"
]  # fmt: skip


def window(name, size, **options):
    weights = {"a": [0.5, 0.3, 0.2]} if name == "general_cosine" else {}
    return getattr(windows, name)(size, dtype=tn.float64, **weights, **options).numpy()


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8])
def test_numpy_s_windows(name, size):
    np.testing.assert_allclose(window(name, size), NUMPY[name](size), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ALL)
def test_symmetry_period_and_size(name):
    whole = window(name, 9)
    np.testing.assert_allclose(whole, whole[::-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(whole[4], 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(window(name, 8, sym=False), whole[:-1], rtol=0, atol=1e-14)
    assert window(name, 0).shape == (0,) and window(name, 1, sym=False).tolist() == [1]


@pytest.mark.parametrize("name", ALL)
def test_what_no_window_can_be_is_refused(name):
    with pytest.raises(ValueError, match=r"non-negative window length, got M=-1"):
        window(name, -1)
    with pytest.raises(ValueError, match="expects float32 or float64"):
        getattr(windows, name)(3, dtype=tn.int64, **({"a": [1]} if "cosine" in name[1:] else {}))


def test_parameters_are_checked():
    assert windows.exponential(5, center=1.0, sym=False)[1] == 1
    for make, text in [
        (lambda: windows.exponential(3, center=1.0), "Center must be None"),
        (lambda: windows.exponential(3, tau=0.0), "Tau must be positive"),
        (lambda: windows.gaussian(3, std=0.0), "must be positive"),
        (lambda: windows.kaiser(3, beta=-1.0), "must be non-negative"),
        (lambda: windows.general_cosine(3, a=[]), "cannot be empty"),
        (lambda: windows.hann(3, layout=tn.sparse_coo), "strided tensors only"),
    ]:
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(TypeError, match="list/tuple"):
        windows.general_cosine(3, a=1.0)


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8])
def test_the_windows_of_torch_itself(name, size):
    """They are periodic by default, and of any floating-point dtype."""
    function = getattr(tn, f"{name}_window")
    np.testing.assert_array_equal(
        function(size, False, dtype=tn.float64).numpy(), window(name, size)
    )
    np.testing.assert_array_equal(
        function(size, dtype=tn.float64).numpy(), window(name, size, sym=False)
    )
    assert function(size, dtype=tn.float16).dtype is tn.float16
    assert function(size, requires_grad=True).requires_grad


def test_the_weights_of_hamming_s_window():
    made = tn.hamming_window(5, False, 0.5, 0.25, dtype=tn.float64).numpy()
    np.testing.assert_allclose(made, [0.25, 0.5, 0.75, 0.5, 0.25], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((-1,), RuntimeError, "hann_window requires non-negative window_length"),
        ((1.5,), TypeError, "argument 'window_length' .* must be int, not float"),
    ],
)
def test_lengths_that_no_window_has(arguments, kind, text):
    with pytest.raises(kind, match=text):
        tn.hann_window(*arguments)


def test_dtypes_and_layouts_that_no_window_has():
    with pytest.raises(RuntimeError, match="hann_window expects floating point dtypes"):
        tn.hann_window(3, dtype=tn.int64)
    with pytest.raises(RuntimeError, match="hann_window is not implemented for sparse types"):
        tn.hann_window(3, layout=tn.sparse_coo)


@pytest.mark.parametrize("name", [*ALL, *(f"{name}_window" for name in NUMPY)])
def test_signatures_show_the_options(name):
    function = getattr(tn if "window" in name else windows, name)
    shown = inspect.signature(function).parameters
    assert {"dtype", "layout", "device", "requires_grad"} <= shown.keys()
    assert "options" not in shown
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'size'"):
        function(3, size=1)
