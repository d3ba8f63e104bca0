"""Regions of autocast: which dtypes arise in them, and when they are in force."""

import threading

import numpy as np
import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tinynet import nn

pytest.importorskip("ml_dtypes", reason="needs ml_dtypes: pip install ml_dtypes")


def product():
    return tn.mm(tn.ones(2, 2), tn.ones(2, 2)).dtype


def test_products_compute_in_the_lower_precision_and_losses_in_float32():
    net = nn.Linear(3, 2)
    with tn.autocast("cpu"):
        y = net(tn.ones(4, 3))
        loss = F.mse_loss(y, tn.zeros(4, 2))
    assert y.dtype is tn.bfloat16 and loss.dtype is tn.float32
    assert type(y.grad_fn).__name__ == "AddmmBackward0"
    bias, weight = (node for node, _ in y.grad_fn.next_functions if node)
    casts = [type(node).__name__ for node in (bias, weight, weight.next_functions[0][0])]
    assert casts == ["ToCopyBackward0", "TBackward0", "ToCopyBackward0"]
    loss.backward()
    assert net.weight.grad.dtype is net.bias.grad.dtype is tn.float32


def test_a_function_without_a_policy_computes_in_what_arrives():
    with tn.autocast("cpu"):
        assert tn.ones(2, dtype=tn.bfloat16).softmax(0).dtype is tn.bfloat16
        assert tn.ones(2).softmax(0).dtype is tn.float32
        assert tn.dot(tn.ones(2), tn.ones(2)).dtype is tn.float32
        assert tn.matmul(tn.ones(2), tn.ones(2)).dtype is tn.bfloat16


def test_float64_and_integers_are_left_alone():
    with tn.autocast("cpu"):
        x = tn.ones(2, 2, dtype=tn.float64)
        assert tn.mm(x, x).dtype is tn.float64
        x = tn.ones(2, 2, dtype=tn.int64)
        assert tn.mm(x, x).dtype is tn.int64


def test_out_is_left_alone():
    target = tn.zeros(2, 2)
    with tn.autocast("cpu"):
        tn.mm(tn.full((2, 2), 1.001), tn.ones(2, 2), out=target)
    assert target[0, 0].item() == pytest.approx(2.002)


def test_the_widest_dtype_wins_where_one_is_needed():
    x, y = tn.zeros(2, 2, dtype=tn.bfloat16), tn.ones(1, 2)
    with pytest.raises(RuntimeError, match="same dtype|scalar type"):
        tn.index_copy(x, 0, tn.tensor([1]), y)
    with tn.autocast("cpu"):
        assert tn.index_copy(x, 0, tn.tensor([1]), y).dtype is tn.float32
        assert tn.cat([x, x]).dtype is tn.bfloat16


def test_regions_nest():
    with tn.autocast("cpu", dtype=tn.float16):
        assert product() is tn.float16 and tn.get_autocast_dtype("cpu") is tn.float16
        with tn.autocast("cpu", enabled=False):
            assert product() is tn.float32 and not tn.is_autocast_enabled("cpu")
            with tn.autocast("cpu", dtype=tn.bfloat16):
                assert product() is tn.bfloat16
        assert product() is tn.float16
    assert product() is tn.float32 and tn.get_autocast_dtype("cpu") is tn.bfloat16


def test_an_error_ends_the_region():
    with pytest.raises(RuntimeError, match="cannot be multiplied"), tn.autocast("cpu"):
        tn.mm(tn.ones(2, 3), tn.ones(2, 3))
    assert product() is tn.float32 and not tn.is_autocast_enabled("cpu")


def test_a_decorated_function_may_call_itself():
    @tn.autocast("cpu")
    def kinds(depth):
        return [product(), *(kinds(depth - 1) if depth else [])]

    assert kinds(2) == [tn.bfloat16] * 3 and product() is tn.float32


def test_a_region_belongs_to_its_thread():
    seen = []
    with tn.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(product()))
        thread.start()
        thread.join()
    assert seen == [tn.float32]


def test_backward_outside_of_the_region_and_under_no_grad():
    w = tn.ones(2, 2, requires_grad=True)
    with tn.autocast("cpu"):
        with tn.no_grad():
            assert not tn.mm(w, w).requires_grad
        y = tn.mm(w, w)
    y.float().sum().backward()
    assert w.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_the_cast_of_a_parameter_is_kept_for_the_region():
    w = tn.ones(2, 2, requires_grad=True)

    def casts(**options):
        with tn.autocast("cpu", **options):
            first, second = tn.mm(w, tn.ones(2, 2)), tn.mm(w, tn.ones(2, 2))
        return first.grad_fn.next_functions[0][0], second.grad_fn.next_functions[0][0]

    one, two = casts()
    assert one is two
    one, two = casts(cache_enabled=False)
    assert one is not two
    with tn.no_grad():
        w.fill_(3.0)
    with tn.autocast("cpu"):
        assert tn.mm(w, tn.ones(2, 2))[0, 0].item() == 6.0


def test_the_switches_by_hand():
    assert tn.is_autocast_cache_enabled()
    tn.set_autocast_enabled("cpu", True)
    try:
        assert product() is tn.bfloat16
    finally:
        tn.set_autocast_enabled("cpu", False)
    assert product() is tn.float32
    with pytest.deprecated_call():
        assert tn.get_autocast_gpu_dtype() is tn.float16
    tn.set_autocast_enabled(True)  # of a GPU
    assert tn.is_autocast_enabled() and product() is tn.float32
    tn.set_autocast_enabled(False)


def test_what_cannot_be():
    with pytest.warns(UserWarning, match="CUDA is not available or torch_xla is imported"):
        region = tn.autocast("cuda", dtype=tn.bfloat16)
    with region:
        assert product() is tn.float32
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported"):
        region = tn.autocast("cpu", dtype=tn.float32)
    with region:
        assert product() is tn.float32
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda.*: gpu"):
        tn.autocast("gpu")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        tn.autocast(True)
    with pytest.raises(TypeError, match="requires a callable, but got int"):
        tn.autocast("cpu")(3)


def test_older_names():
    with pytest.warns(FutureWarning, match=r"`torch.cpu.amp.autocast\(args...\)` is deprecated"):
        region = tn.amp.cpu.autocast(dtype=tn.float16)
    with region:
        assert product() is tn.float16
    with pytest.warns() as found:
        tn.amp.cuda.autocast(True, tn.bfloat16)
    assert [type(w.message) for w in found] == [FutureWarning, UserWarning]


class Product(tn.autograd.Function):
    """A product of matrices that remembers in which dtypes it computes."""

    seen: list = []

    @staticmethod
    @tn.amp.custom_fwd(device_type="cpu")
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return tn.mm(a, b)

    @staticmethod
    @tn.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        result = tn.mm(g, b.t())
        Product.seen.append(result.dtype)
        return result, tn.mm(a.t(), g)


def test_custom_functions_run_backward_as_forward():
    a = tn.ones(2, 2, requires_grad=True)
    Product.seen = []
    with tn.autocast("cpu"):
        y = Product.apply(a, a)
    y.float().sum().backward()
    Product.apply(a, a).sum().backward()
    assert y.dtype is tn.bfloat16 and Product.seen == [tn.bfloat16, tn.float32]


def test_custom_functions_can_ask_for_a_dtype():
    @tn.amp.custom_fwd(device_type="cpu", cast_inputs=tn.float32)
    def forward(ctx, x, more):
        return tn.mm(x, x).dtype, [one.dtype for one in more["of"]]

    class Context:
        pass

    x = tn.ones(2, 2, dtype=tn.bfloat16)
    more = {"of": (x, tn.ones(1, dtype=tn.float64), tn.ones(1, dtype=tn.int64))}
    with tn.autocast("cpu"):
        assert forward(Context(), x, more) == (
            tn.float32,
            [tn.float32, tn.float64, tn.int64],
        )
    assert forward(Context(), x, more)[0] is tn.bfloat16


def test_running_statistics_move_once_where_dtypes_are_mixed():
    norm = nn.BatchNorm1d(2)
    x = tn.tensor([[1.0, 2.0], [3.0, 6.0]])
    with tn.autocast("cpu"):
        assert norm(x.bfloat16()).dtype is tn.bfloat16
    assert np.allclose(norm.running_mean.tolist(), [0.2, 0.4])
    assert norm.num_batches_tracked.item() == 1
