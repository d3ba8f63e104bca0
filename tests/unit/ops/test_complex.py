"""Complex numbers: dtypes, gradients, what shares memory, what is refused, and files."""

import copy
import io
import math
import pickle

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import bound, near
from tinynet import exchange, nn, optim
from tinynet.nn import functional as F

C64, C128 = tn.complex64, tn.complex128


def numbers(*shape, seed=0, dtype=C128):
    """Return complex numbers whose parts are normal, of sizes away from zero."""
    random = np.random.RandomState(seed)
    made = random.standard_normal(shape) + 1j * random.standard_normal(shape)
    return tn.tensor(made + np.sign(made.real) * 0.3, dtype=dtype)


# ---- dtypes -------------------------------------------------------------------------------------


def test_attributes():
    assert (C64.is_complex, C64.is_floating_point, C64.itemsize, C128.itemsize) == (
        True, False, 8, 16,
    )  # fmt: skip
    assert (C64.to_real(), C128.to_real(), tn.float32.to_complex()) == (tn.float32, tn.float64, C64)
    assert tn.cfloat is C64 and tn.cdouble is C128
    assert tn.tensor(1j).type() == "tinynet.ComplexFloatTensor"
    assert tn.finfo(C128).eps == tn.finfo(tn.float64).eps
    with pytest.raises(TypeError, match="iinfo"):
        tn.iinfo(C64)
    with pytest.raises(TypeError, match="only floating-point types are supported as the default"):
        tn.set_default_dtype(C64)


@pytest.mark.parametrize(
    "a, b, expected",
    [
        (C64, tn.float32, C64), (C64, tn.float64, C128), (C64, C128, C128), (C64, tn.int64, C64),
        (C64, tn.bool, C64), (C64, tn.float16, C64), (C128, tn.float32, C128),
    ],
    ids=str,
)  # fmt: skip
def test_promotion(a, b, expected):
    assert tn.promote_types(a, b) is tn.promote_types(b, a) is expected
    assert (tn.ones(2, dtype=a) * tn.ones(2, dtype=b)).dtype is expected


@pytest.mark.parametrize(
    "x, y, expected",
    [
        (tn.ones(2), 1j, C64),
        (tn.ones(2, dtype=tn.float64), 1j, C128),
        (tn.ones(2, dtype=tn.int64), 1j, C64),
        (tn.ones(2), tn.tensor(1j, dtype=C128), C64),  # a 0-d tensor decides on categories only
        (tn.ones(2, dtype=tn.float64), tn.tensor(1j), C128),
        (tn.tensor([1j]), 2.0, C64),
        (tn.tensor([1j]), tn.tensor(2.0, dtype=tn.float64), C64),
    ],
)
def test_numbers_and_tensors_of_no_dimensions_decide_on_categories_only(x, y, expected):
    assert (x + y).dtype is tn.result_type(x, y) is expected


def test_the_default_dtype_decides_on_complex_numbers():
    tn.set_default_dtype(tn.float64)
    try:
        assert tn.tensor(1j).dtype is C128
        assert (tn.ones(2, dtype=tn.float32) * 1j).dtype is C64
    finally:
        tn.set_default_dtype(tn.float32)


def test_conversions():
    z = tn.tensor([1 + 2j, -1j])
    assert tn.tensor([1.0, 2.0]).to(C64).equal(tn.tensor([1 + 0j, 2]))
    assert z.cdouble().dtype is C128 and z.to(C128).cfloat().dtype is C64
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert z.to(tn.float32).equal(tn.tensor([1.0, -0.0]))
    assert z.bool().tolist() == [True, True]
    assert (tn.tensor(1 + 2j).item(), complex(tn.tensor(1j)), float(tn.tensor(2 + 0j))) == (
        1 + 2j, 1j, 2.0,
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="cannot be converted to type double without overflow"):
        float(tn.tensor(1j))
    assert np.array_equal(np.asarray(z), np.array([1 + 2j, -1j], np.complex64))


def test_printing_is_pytorchs():
    assert repr(tn.tensor([1 + 2j, 3 - 1j])) == "tensor([1.+2.j, 3.-1.j])"
    assert repr(tn.tensor([1.5 + 2j, 3 - 1.25j], dtype=C128)) == (
        "tensor([1.5000+2.0000j, 3.0000-1.2500j], dtype=tinynet.complex128)"
    )
    assert repr(tn.tensor(1j)) == "tensor(0.+1.j)"
    assert repr(tn.tensor([[1e-9 + 1e5j, 2]])) == "tensor([[1.0000e-09+100000.j, 2.0000e+00+0.j]])"
    assert repr(tn.tensor([complex("nan+nanj"), 2])) == "tensor([nan+nanj, 2.+0.j])"
    assert repr(tn.zeros(0, dtype=C64)) == "tensor([], dtype=tinynet.complex64)"


# ---- parts, and what shares memory --------------------------------------------------------------


def test_parts_are_views():
    z = tn.zeros(3, dtype=C64)
    z.real[1] = 5
    z.imag += 2
    tn.view_as_real(z)[2, 0] = -1
    assert z.equal(tn.tensor([2j, 5 + 2j, -1 + 2j]))
    assert z._version == 4 and z.real._base is z
    pairs = tn.view_as_complex(tn.tensor([[1.0, 2.0], [3.0, 4.0]])[1:])
    assert pairs.equal(tn.tensor([3 + 4j]))
    assert tn.view_as_complex(tn.zeros(3, 0, 2)).shape == (3, 0)
    z.real = tn.ones(3)
    assert z.real.equal(tn.ones(3))
    assert tn.tensor([1.0]).real.dtype is tn.float32
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex"):
        tn.ones(2).imag  # noqa: B018


def test_parts_of_any_layout():
    z = numbers(4, 3)
    for view in (z.t(), z[::2, 1:], z[1], z[:, :0], z[2, 1]):
        pairs = tn.view_as_real(view)
        assert pairs.shape == (*view.shape, 2)
        assert pairs[..., 0].equal(view.real) and pairs[..., 1].equal(view.imag)
        assert tn.view_as_complex(pairs).equal(view)


@pytest.mark.parametrize(
    "x, message",
    [
        (tn.ones(2, dtype=tn.int64), "only supported for half, float and double tensors"),
        (tn.tensor(1.0), "one or more dimensions"),
        (tn.ones(3), "last dimension of size 2"),
        (tn.ones(2, 4)[:, ::2], "last dimension with stride 1"),
        (tn.ones(2, 3)[:, :2], "stride divisible by 2"),
        (tn.ones(5)[1:3], "storage_offset divisible by 2"),
    ],
)
def test_what_is_no_complex_number(x, message):
    with pytest.raises(RuntimeError, match=message):
        tn.view_as_complex(x)


def test_writes_to_parts_are_recorded():
    x = tn.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    pairs = tn.view_as_real(x * 2)
    pairs[0, 1] = 0
    (pairs**2).sum().backward()
    assert x.grad.equal(tn.tensor([8 + 0j, 24 - 8j]))
    y = tn.tensor([1 + 2j], requires_grad=True)
    z = y * 1
    z.imag.mul_(3)
    (z.real + z.imag).sum().backward()
    assert y.grad.equal(tn.tensor([1 + 3j]))


def test_a_value_that_a_formula_saved_must_not_change():
    z = tn.tensor([1j], requires_grad=True)
    y = z * 2
    loss = (y * y).abs().sum()
    y.real.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_in_place_results_keep_the_dtype():
    with pytest.raises(RuntimeError, match="result type ComplexFloat can't be cast to .* Float"):
        tn.ones(2).add_(1j)
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
        tn.tensor([1j]).abs_()
    z = tn.zeros(2, dtype=C64)
    z[0] = 5j
    z[1] = 2
    assert z.fill_(1 + 1j).equal(tn.full((2,), 1 + 1j))
    assert tn.tensor([1j, 2]).mul_(2j).equal(tn.tensor([-2 + 0j, 4j]))


# ---- gradients ----------------------------------------------------------------------------------

x, y, A, B = numbers(3), numbers(3, seed=1), numbers(3, 3, seed=2), numbers(3, 3, seed=3)
HERMITIAN = A @ A.mH + tn.eye(3, dtype=C128)
FUNCTIONS = {
    "mul": (lambda a, b: a * b, x, y),
    "div": (lambda a, b: a / b, x, y),
    "pow": (lambda a, b: a**b, x, y),
    "powers of numbers": (lambda a: a**2 + a ** (1 + 1j) + (2 + 1j) ** a + 2**a, x),
    "real times complex": (lambda a, b: a.real * b + a.abs() * b.conj(), x, y),
    "abs, angle, sgn": (lambda a: a.abs() * a.angle() * a.sgn(), x),
    "conj": (lambda a: a.conj() * a * a.conj_physical().real, x),
    "complex": (lambda a: tn.complex(a.imag, a.real * 2), x),
    "polar": (lambda a: tn.polar(a.abs(), a.real), x),
    "parts": (lambda a: tn.view_as_complex(tn.view_as_real(a).flip(-1)) * a, x),
    "exp, log, sqrt": (lambda a: (a.exp() + a.log() + a.sqrt() + a.rsqrt()).log1p(), x),
    "trigonometry": (lambda a: a.sin() * a.cos() + a.tanh() + a.atan() + a.asinh(), x),
    "sigmoid": (lambda a: a.sigmoid() + F.silu(a) + a.sinc(), x),
    "sums": (lambda a: a.sum() * a.mean() + a.prod() + a.cumsum(0) + a.cumprod(0), x),
    "spread": (lambda a: a.std() + a.var() + a.norm() + tn.linalg.vector_norm(a, 3), x),
    "logsumexp": (lambda a: a.logsumexp(0) + tn.logaddexp(a, a * 2) + a.logcumsumexp(0), x),
    "products": (lambda a, b: (a @ b) @ x + tn.dot(x, b[0]) + tn.vdot(a[0], x) + a.mv(y), A, B),
    "einsum": (lambda a, b: tn.einsum("ij,kj->ik", a, b.conj()) + tn.kron(a, b)[:3, :3], A, B),
    "adjoint": (lambda a: a.mH @ a + a.H - a.adjoint() * 2, A),
    "lerp, addcmul": (lambda a, b: a.lerp(b, 0.3) + a.addcmul(a, b) + a.addcdiv(b, a), x, y),
    "linear": (lambda a, b: F.linear(a, b, x), A, B),
    "conv": (lambda a, b: F.conv1d(a[None], b[:, :, None], x), A, B),
    "indices": (lambda a: tn.cat([a[::2], a.flip(0), tn.where(a.real > 0, a, 2 * a)]), x),
    "det": (lambda a: tn.linalg.det(a) + tn.linalg.slogdet(a).logabsdet + a.trace(), A),
    "slogdet's sign": (lambda a: tn.linalg.slogdet(a).sign, A),
    "inv, solve": (lambda a, b: tn.linalg.inv(a) + tn.linalg.solve(a, b), A, B),
    "triangular": (lambda a, b: tn.linalg.solve_triangular(a.tril(), b, upper=False), A, B),
    "lu": (lambda a: tn.linalg.lu(a).L @ tn.linalg.lu(a).U * tn.linalg.lu_factor(a).LU, A),
    "cholesky": (lambda a: tn.linalg.cholesky(HERMITIAN + a @ a.mH), A),
    "qr": (lambda a: tn.linalg.qr(a).Q @ tn.linalg.qr(a).R.abs().to(C128), A),
    "eigh": (lambda a: tn.linalg.eigvalsh(a + a.mH), A),
    "eigenvectors": (lambda a: tn.linalg.eigh(a + a.mH).eigenvectors.abs(), A),
    "eig": (lambda a: tn.linalg.eig(a).eigenvectors.abs() + tn.linalg.eigvals(a), A),
    "svd": (lambda a: tn.linalg.svd(a).U.abs() + tn.linalg.svdvals(a), A),
    "pinv": (lambda a: tn.linalg.pinv(a[:, :2]), A),
    "lstsq": (lambda a, b: tn.linalg.lstsq(a, b).solution, A, B),
    "matrix_exp": (lambda a: tn.matrix_exp(a), A),
    "householder": (lambda a, t: tn.linalg.householder_product(a, t), A, x),
    "fft": (lambda a: tn.fft.fft(a) * tn.fft.ifft(a, 5)[:3] + tn.fft.fftn(A * a)[0], x),
    "real fft": (lambda a: tn.fft.irfft(tn.fft.rfft(a.real, 4) * a, 5), x),
    "hfft": (lambda a: tn.fft.hfft(a, 4)[:3] + tn.fft.ihfft(a.real, 4)[:3], x),
    "fft of two": (lambda a: tn.fft.rfft2(a.real) * tn.fft.ihfft2(a.imag), A),
    "norms": (lambda a: tn.linalg.norm(a) + tn.linalg.matrix_norm(a, "nuc") + a.norm(dim=0), A),
    "renorm": (lambda a: tn.renorm(a, 2, 0, 1.0), A),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_finite_differences(name):
    function, *given = FUNCTIONS[name]
    leaves = [t.clone().requires_grad_() for t in given]
    assert tn.autograd.gradcheck(function, leaves)
    assert tn.autograd.gradgradcheck(function, leaves)


def test_a_wrong_gradient_is_found():
    class Wrong(tn.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            return z.conj()

        @staticmethod
        def backward(ctx, g):
            return g  # of the conjugate: its conjugate

    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        tn.autograd.gradcheck(Wrong.apply, [x.clone().requires_grad_()])


def test_the_gradient_is_that_of_the_parts():
    z = tn.tensor([3 + 4j], requires_grad=True)
    (z.real * 2 + z.imag * 5).sum().backward()
    assert z.grad.equal(tn.tensor([2 + 5j]))
    r = tn.ones(2, requires_grad=True)  # of a real leaf: the real part
    (r * 1j).backward(tn.tensor([1 + 1j, 2j]))
    assert r.grad.equal(tn.tensor([1.0, 2.0])) and r.grad.dtype is tn.float32


def test_backward_wants_a_real_number():
    z = tn.tensor(1 + 1j, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for real scalar outputs but got .*complex64"):
        (z * 2).backward()
    with pytest.raises(RuntimeError, match="grad_output and output are required to have the same"):
        (z * 2).backward(tn.tensor(1.0))
    (z * 2).backward(tn.tensor(1 + 0j))
    assert z.grad.item() == 2


@pytest.mark.parametrize("name", ["eigh", "svd", "eig"])
def test_losses_that_depend_on_phases_are_refused(name):
    a = A.clone().requires_grad_()
    loss = {
        "eigh": lambda: tn.linalg.eigh(a + a.mH).eigenvectors,
        "eig": lambda: tn.linalg.eig(a).eigenvectors,
        "svd": lambda: tn.linalg.svd(a).U,
    }[name]().imag.sum()
    with pytest.raises(RuntimeError, match="up to multiplication by e"):
        loss.backward()


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z < z, lambda z: z.max(), lambda z: z.sort(), lambda z: z.clamp(0, 1),
        lambda z: z.floor(), lambda z: z // 2, lambda z: z % 2, lambda z: z.relu(),
        lambda z: z.median(), lambda z: z.topk(1), lambda z: z.erf(), lambda z: z.lgamma(),
        lambda z: tn.maximum(z, z), lambda z: F.gelu(z), lambda z: F.softmax(z, 0),
        lambda z: F.mse_loss(z, z), lambda z: F.max_pool1d(z[None], 1), lambda z: z.argmax(),
        lambda z: tn.atan2(z, z), lambda z: z.sign(), lambda z: z.unique(), lambda z: z.histc(),
    ],
)  # fmt: skip
def test_what_has_no_meaning_for_complex_numbers_is_refused(call):
    with pytest.raises(
        (RuntimeError, TypeError), match=r"not implemented for 'ComplexFloat'|Compl"
    ):
        call(tn.tensor([1j, 2]))


# ---- Fourier transforms -------------------------------------------------------------------------

TRANSFORMS = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "rfftn", "irfft", "irfftn")


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", [*TRANSFORMS, "hfft", "ihfft"])
def test_transforms_are_numpys(name, norm):
    given = numbers(4, 6)
    if name.startswith(("rfft", "ihfft")):
        given = given.real
    expected = getattr(np.fft, name)(given.numpy(), norm=norm)
    found = getattr(tn.fft, name)(given, norm=norm)
    assert found.dtype is (tn.float64 if expected.dtype.kind == "f" else C128)
    assert np.abs(found.numpy() - expected).max() <= bound("float64", 40) * np.abs(expected).max()
    single = getattr(tn.fft, name)(given.to(C64 if given.is_complex() else tn.float32), norm=norm)
    assert single.dtype is (tn.float32 if expected.dtype.kind == "f" else C64)
    assert np.abs(single.numpy() - expected).max() <= bound("float32", 40) * np.abs(expected).max()


def test_lengths_dims_and_frequencies():
    given = tn.arange(6)
    assert tn.fft.fft(given).dtype is C64
    assert tn.fft.fft(given, 4).equal(tn.fft.fft(given[:4]))
    assert tn.fft.rfft(given, 8).shape == (5,)
    assert tn.fft.fftn(tn.ones(2, 3, 4), (3,), (0,)).shape == (3, 3, 4)
    assert tn.fft.fftn(tn.ones(2, 3, 4), s=(-1, 5)).shape == (2, 3, 5)
    assert tn.fft.fftfreq(5, 0.5).allclose(tn.tensor([0.0, 0.4, 0.8, -0.8, -0.4]))
    assert tn.fft.ifftshift(tn.fft.fftshift(given)).equal(given)
    target = tn.empty(6, dtype=C64)
    assert tn.fft.fft(given, out=target) is target


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda z: tn.fft.fft(z, 0), r"Invalid number of data points \(0\) specified"),
        (lambda z: tn.fft.fft(z, norm="a"), 'Invalid normalization mode: "a"'),
        (lambda z: tn.fft.fft(z.real.half()), "Unsupported dtype Half"),
        (lambda z: tn.fft.rfft(z), "rfft expects a real input tensor, but got ComplexFloat"),
        (lambda z: tn.fft.fftn(z, dim=(0, 0)), "FFT dims must be unique"),
        (lambda z: tn.fft.fftn(z, (2,), (0, 1)), "must have the same length"),
        (
            lambda z: tn.fft.fftn(z, (2, 2, 2)),
            "Got shape with 3 values but input tensor only has 2",
        ),
        (lambda z: tn.fft.rfftn(z.real, dim=()), "rfftn must transform at least one axis"),
    ],
)
def test_transforms_that_are_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(tn.ones(2, 2, dtype=C64))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("onesided", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_spectrograms_are_the_sums_that_define_them(center, onesided, normalized):
    signal = np.random.RandomState(0).standard_normal(50)
    window = tn.hann_window(12, dtype=tn.float64)
    options = dict(hop_length=3, win_length=12, window=window, center=center)
    options |= dict(normalized=normalized, onesided=onesided)
    found = tn.stft(tn.tensor(signal), 16, return_complex=True, **options)
    padded = np.pad(signal, 8, mode="reflect") if center else signal
    wide = np.pad(window.numpy(), 2)
    angles = np.arange(9 if onesided else 16)[:, None] * np.arange(16) / 16
    turns = np.exp(-2j * math.pi * angles) / (4 if normalized else 1)
    starts = range(0, len(padded) - 15, 3)
    expected = np.stack([turns @ (wide * padded[s : s + 16]) for s in starts], 1)
    assert found.shape == expected.shape
    assert np.abs(found.numpy() - expected).max() <= bound("float64", 100) * 10
    if center:
        again = tn.istft(found, 16, length=50, **options)
        assert np.abs(again.numpy() - signal).max() <= bound("float64", 1000) * 10


def test_spectrograms_have_gradients_and_refuse_what_does_not_fit():
    w = tn.hann_window(8, dtype=tn.float64)

    def there_and_back(s):
        spectrum = tn.stft(s, 8, window=w, return_complex=True)
        return tn.istft(spectrum * 2, 8, window=w) + spectrum.abs().sum()

    signal = numbers(20).real.clone().requires_grad_()
    assert tn.autograd.gradcheck(there_and_back, [signal])
    signal = tn.ones(20)
    with pytest.raises(RuntimeError, match="requires the return_complex parameter"):
        tn.stft(signal, 8, window=tn.ones(8))
    with pytest.raises(RuntimeError, match="expected hop_length > 0, but got hop_length=0"):
        tn.stft(signal, 8, 0, window=tn.ones(8), return_complex=True)
    with pytest.raises(RuntimeError, match="equal to win_length=8, but got window with size"):
        tn.stft(signal, 8, window=tn.ones(3), return_complex=True)
    with pytest.warns(UserWarning, match="A window was not provided"):
        tn.stft(signal, 8, return_complex=True)
    spectrum = tn.ones(5, 9, dtype=C64)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        tn.istft(spectrum, 8, window=tn.zeros(8))
    with pytest.raises(RuntimeError, match="requires a complex-valued input"):
        tn.istft(spectrum.real, 8, window=tn.ones(8))


# ---- what else stands on tensors ----------------------------------------------------------------


def test_modules_and_clipping():
    layer = nn.Linear(3, 2, dtype=tn.cfloat)
    assert layer(tn.ones(1, 3, dtype=C64)).dtype is C64
    assert layer.double().weight.dtype is C64  # not a floating-point parameter
    with pytest.warns(UserWarning, match="Complex modules"):
        assert nn.Linear(3, 2).to(tn.cfloat).weight.dtype is C64
    p = nn.Parameter(tn.tensor([3 + 4j]))
    p.grad = tn.tensor([3 + 4j])
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == 5
    assert p.grad.allclose(tn.tensor([0.6 + 0.8j]))
    assert nn.Conv2d(1, 1, 1, dtype=tn.cfloat)(tn.ones(1, 1, 2, 2, dtype=C64)).dtype is C64


@pytest.mark.parametrize("kind", [C64, C128], ids=str)
def test_files_and_copies(kind, tmp_path):
    z = numbers(2, 3, dtype=kind)
    for ending in ("pt", "npz"):
        tn.save({"z": z}, tmp_path / f"z.{ending}")
        assert tn.load(tmp_path / f"z.{ending}")["z"].equal(z)
    exchange.save_pytorch({"z": z}, tmp_path / "torch.pt")
    assert tn.load(tmp_path / "torch.pt")["z"].equal(z)
    assert pickle.loads(pickle.dumps(z)).equal(z) and copy.deepcopy(z).equal(z)
    buffer = io.BytesIO()
    tn.save(nn.Parameter(z), buffer)
    buffer.seek(0)
    assert tn.load(buffer, weights_only=False).equal(z)


def test_safetensors_has_one_complex_dtype(tmp_path):
    z = numbers(2, dtype=C64)
    exchange.save_file({"z": z}, tmp_path / "z.safetensors")
    assert exchange.load_file(tmp_path / "z.safetensors")["z"].equal(z)
    with pytest.raises(TypeError, match="'w'.*complex128"):
        exchange.save_file({"w": numbers(2)}, tmp_path / "w.safetensors")


def test_transforms_of_functions():
    z = numbers(4, 3)

    def size(v):
        return (v * v.conj()).real.sum()

    assert tn.func.vmap(size)(z).allclose((z.abs() ** 2).sum(1))
    assert tn.func.grad(size)(z).allclose(2 * z)
    assert tn.func.vmap(tn.func.grad(size))(z).allclose(2 * z)
    assert tn.func.vmap(tn.fft.fft)(z).allclose(tn.fft.fft(z))
    assert tn.func.vmap(lambda v: tn.view_as_complex(tn.view_as_real(v) * 2))(z).allclose(2 * z)
    with pytest.raises(RuntimeError, match="Expected all inputs to be real"):
        tn.func.jacrev(lambda v: v * v)(z)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_captured_steps(backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")

    def trained(compiled):
        tn.manual_seed(0)
        w = nn.Parameter(tn.randn(5, dtype=tn.cfloat) * 0.1)
        layer = nn.Linear(8, 4)
        optimizer = optim.Adam([w, *layer.parameters()], lr=0.01)

        def step(inputs, targets):
            optimizer.zero_grad()
            filtered = tn.fft.irfft(tn.fft.rfft(inputs) * w, 8)
            loss = F.mse_loss(layer(filtered), targets)
            loss.backward()
            optimizer.step()
            return loss

        run = tn.compile(step, backend=backend) if compiled else step
        losses = [run(tn.randn(6, 8), tn.randn(6, 4)).item() for _ in range(12)]
        if compiled:
            assert "10 were replayed" in str(run.explain())
        return losses

    eager, captured = trained(False), trained(True)
    if backend == "numpy":
        assert eager == captured
    assert captured == near(eager, 1000)


@pytest.mark.parametrize("include_self", [True, False])
def test_reductions_by_index(include_self):
    x = tn.tensor([[1 + 2j, -1j], [2.0, 1 - 1j]], dtype=C128, requires_grad=True)
    source = tn.tensor([[2 - 1j, 3.0], [1j, 0.5 + 1j]], dtype=C128, requires_grad=True)
    at = tn.tensor([[0, 1], [0, 1]])

    def reduced(x, source, reduce):
        return x.scatter_reduce(0, at, source, reduce, include_self=include_self)

    found = {reduce: reduced(x, source, reduce)[0, 0].item() for reduce in ("sum", "prod", "mean")}
    if include_self:
        assert found == {"sum": 3 + 2j, "prod": (2 - 1j) * 1j * (1 + 2j), "mean": (3 + 2j) / 3}
    else:
        assert found == {"sum": 2, "prod": (2 - 1j) * 1j, "mean": 1}
    for reduce in found:
        assert tn.autograd.gradcheck(lambda x, y, r=reduce: reduced(x, y, r), (x, source))
    with pytest.raises(NotImplementedError, match="reduce_amax.* for 'ComplexDouble'"):
        reduced(x, source, "amax")
    product = x.detach().scatter(0, at, source.detach(), reduce="multiply")
    assert product.allclose(reduced(x.detach(), source.detach(), "prod")) is include_self
