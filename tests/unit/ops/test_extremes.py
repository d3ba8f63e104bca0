"""Elementwise operations from the smallest to the largest numbers, at infinity and at NaN.

Results, first and second derivatives are compared with PyTorch's, also those for incoming gradients
of infinity and NaN, which a mask must select away. What PyTorch loses in rounding is compared with
the exact numbers.
"""

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import STEPS, assert_near, bound

from . import extremes

INEXACT = "PyTorch cancels or computes in float32; see EXACT"
OVERFLOWS = "PyTorch's intermediate overflows, which gives NaN instead of the limit"
AT_INFINITY = "the limit, where PyTorch returns NaN"
AT_NAN = "NaN, where PyTorch returns the derivative at 0"
UNDERFLOWS = "times a slope below the smallest number that sigmoid returns"
# By operation, kind of gradient and result: why tinynet's differ.
DEPARTURES = {
    **dict.fromkeys(
        (
            "1 erf/finite/bend 00", "1 erfc/finite/bend 00", "1 asinh/finite/bend 00",
            "1 atanh/finite/bend 00", "1 special.ndtr/finite/bend 00", "1 mish/finite/bend 00",
            "1 gelu-tanh/finite/slope 0", "1 gelu-tanh/finite/bend 00", "2 glu/finite/bend 11",
            "2 atan2/finite/bend 00", "2 atan2/finite/bend 01", "2 atan2/finite/bend 10",
            "2 atan2/finite/bend 11",
        ),
        OVERFLOWS,
    ),
    **dict.fromkeys(
        (
            "1 sinc/finite/slope 0", "1 sinc/finite/bend 00", "1 lgamma/finite/bend 00",
            "1 digamma/finite/slope 0", "1 digamma/finite/bend 00",
            "1 special.erfcx/finite/slope 0", "1 special.erfcx/finite/bend 00",
            "1 special.log_ndtr/finite/slope 0", "1 special.log_ndtr/finite/bend 00",
            "1 special.i1/finite/bend 00", "1 special.i1e/finite/bend 00",
            "1 hardsigmoid/finite/slope 0",
        ),
        INEXACT,
    ),
    **dict.fromkeys(
        (
            "1 i0/finite/value", "1 i0/finite/slope 0", "1 special.i1/finite/value",
            "1 special.erfcx/infinite/slope 0", "1 special.erfcx/infinite/bend 00",
        ),
        AT_INFINITY,
    ),
    **dict.fromkeys(
        (
            "1 i0/finite/bend 00", "1 i0/infinite/bend 00", "1 special.i1/finite/slope 0",
            "1 special.i1/infinite/slope 0", "1 special.i1e/finite/slope 0",
            "1 special.i1e/infinite/slope 0", "1 logit-eps/finite/slope 0",
            "1 logit-eps/infinite/slope 0", "1 logit-eps/nan/slope 0",
        ),
        AT_NAN,
    ),
    **dict.fromkeys(
        (
            "1 sinc/infinite/slope 0", "1 sinc/nan/slope 0", "1 special.i1/infinite/bend 00",
            "1 special.i1/nan/bend 00", "1 special.i1e/infinite/bend 00",
            "1 special.i1e/nan/bend 00",
        ),
        "a product near 0, so that its derivative is right; PyTorch's is 0 or NaN",
    ),
    "1 logsigmoid/infinite/slope 0": UNDERFLOWS,
    "1 softplus/infinite/slope 0": UNDERFLOWS,
    "1 i0/infinite/slope 0": "i1 of the smallest number is 0 in float64",
}  # fmt: skip
# In the same direction, in halves of the last place: lgamma multiplies up to ten numbers, and takes
# the logarithm; ndtri'' contains exp(y * y), and so the two halves of each y that often. Its y * y
# is below -2 log(2 p).
ROUNDINGS = {
    "1 lgamma": lambda x: 48,
    "1 special.ndtri": lambda p: STEPS - 10 * np.log(2 * np.minimum(p, 1 - p)),
}

# The function and its derivatives, from mpmath with 400 digits.
EXACT = {
    "sinc": {
        0.0: (1.0, 0.0, -3.289868133696453),
        5e-324: (1.0, -1.5e-323, -3.289868133696453),
        1e-08: (0.9999999999999999, -3.289868133696453e-08, -3.289868133696453),
        0.001: (0.999998355066745, -0.0032898648867278964, -3.289858392793072),
        0.25: (0.9003163161571061, -0.7728381398822342, -2.703060757258859),
        2.5: (0.12732395447351627, -0.05092958178940651, -1.215893396004392),
    },
    "special.log_ndtr": {
        -10000.0: (-50000010.12927891, 10000.000099999997, -0.9999999900000006),
        -100.0: (-5005.524208694205, 100.00999800099926, -0.9999000599500517),
        -12.5: (-81.57596787074388, 12.579007304406977, -0.9938334592368577),
        -2.5: (-5.08164827727869, 2.822744797663907, -0.9110261985788846),
        0.5: (-0.3689464152886564, 0.5091604338370335, -0.5138245643036329),
        8.5: (-9.479534822203318e-18, 8.16623563166955e-17, -6.941300286919117e-16),
        600.0: (0.0, 0.0, 0.0),
    },
    "special.erfcx": {
        -2.5: (1035.814842972623, -5180.20259403021, 27972.642656096297),
        0.5: (0.6156903441929259, -0.5126888229025867, 0.718691865483265),
        2.5: (0.2108063640611436, -0.07434734678979467, 0.04987599417331381),
        12.5: (0.04499209900102792, -0.003576692069814553, 0.0005668962566920223),
        100.0: (0.005641613782989433, -5.6410497625993184e-05, 1.1280407802288335e-06),
        10000.0: (5.641895807268084e-05, -5.641895750849127e-09, 1.1283791332441388e-12),
    },
    "lgamma": {
        5e-324: (744.4400719213812, -np.inf, np.inf),
        1e-08: (18.42068073818021, -100000000.57721564, 1.0000000000000002e16),
        0.25: (1.2880225246980774, -4.2274535333762655, 17.19732915450711),
        2.5: (0.2846828704729192, 0.7031566406452432, 0.49035775610023485),
        100.0: (359.1342053695754, 4.600161852738087, 0.010050166663333571),
    },
    "digamma": {
        1e-08: (-100000000.57721564, 1.0000000000000002e16, -2e24),
        0.25: (-4.2274535333762655, 17.19732915450711, -129.32773993753693),
        2.5: (0.7031566406452432, 0.49035775610023485, -0.2362040516417274),
        100.0: (4.600161852738087, 0.010050166663333571, -0.00010100499983335),
    },
    "special.i1": {
        1e-08: (5e-09, 0.5, 3.7500000000000005e-09),
        0.25: (0.12597910894546793, 0.5117697054417362, 0.09456603030600987),
        2.5: (2.5167162452886984, 2.283152645934644, 2.0061297861610328),
    },
    "special.i1e": {
        1e-08: (4.99999995e-09, 0.4999999900000001, -0.9999999812500002),
        0.25: (0.09811262869736824, 0.30045401865287813, -0.6253725675488498),
        2.5: (0.20658464953126657, -0.019172067731570437, -0.0035673533317349257),
    },
    "gelu-tanh": {
        -2.5: (-0.015084266089998582, -0.037951576212666184, -0.07624539207361296),
        0.25: (0.149675350701685, 0.6953540951510604, 0.7489486142236503),
        6.0: (5.9999999999156035, 1.0000000007709975, -6.824247274157189e-09),
        1e200: (1e200, 1.0, 0.0),
    },
}
HALF_EPS = np.finfo(np.float64).eps / 2


def differences(found, expected):
    """Return which answers differ, and at which points."""
    wrong = {}
    for key, theirs in expected.items():
        name, kind, _ = key.split("/")
        ours, points = found[key], extremes.OPERATIONS[name][1]
        if kind == "finite":
            with np.errstate(all="ignore"):
                same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
                # The terms of which results are made are about 1 or as large as the result.
                part = bound(np.float64, STEPS)
                if name in ROUNDINGS:
                    part = ROUNDINGS[name](points[0]) * HALF_EPS
                allowed = part * np.maximum(1, abs(theirs))
                bad = ~(same | (abs(ours - theirs) <= allowed))
        else:
            bad = ours & ~theirs
        if bad.any():
            first = [(*(p[i] for p in points), ours[i], theirs[i]) for i in np.flatnonzero(bad)[:3]]
            wrong[key] = first
    return wrong


def check(expected):
    found = extremes.everything(tn)
    assert found.keys() == expected.keys()
    wrong = differences(found, expected)
    assert {key: at for key, at in wrong.items() if key not in DEPARTURES} == {}
    assert sorted(DEPARTURES.keys() - wrong.keys()) == [], "departures that are not needed"


def test_as_pytorch():
    with np.load(extremes.RECORD) as recorded:
        check(dict(recorded))


@pytest.mark.oracle
def test_as_live_pytorch():
    import torch

    check(extremes.everything(torch))


@pytest.mark.parametrize("name", EXACT)
def test_exact_derivatives(name):
    function = extremes.UNARY[name]
    x = tn.tensor(list(EXACT[name]), dtype=tn.float64, requires_grad=True)
    y = function(tn, x)
    (slope,) = tn.autograd.grad(y.sum(), x, create_graph=True)
    (bend,) = tn.autograd.grad(slope.sum(), x)
    exact = np.array(list(EXACT[name].values())).T
    for order, (found, column) in enumerate(zip((y, slope, bend), exact, strict=True)):
        scale = np.maximum(1, np.where(np.isfinite(column), abs(column), 1))
        assert_near(found.detach().numpy(), column, 64, scale, f"derivative {order}")


# ---- by number, not by sweep --------------------------------------------------------------------


@pytest.mark.parametrize("backend", [None, "numpy", "llvm"])
def test_gradients_outside_bounds_are_zero(backend):
    def slope(x):
        y = x.clamp(min=0).sqrt().sum() + (1 / x.clip(0, 1)).sum() + x.relu().log().sum()
        return tn.autograd.grad(y, x)[0]

    if backend == "llvm":
        pytest.importorskip("llvmlite")
    if backend:
        slope = tn.compile(slope, backend=backend)
    for _ in range(3):
        found = slope(tn.tensor([-1.0, 4.0, -np.inf], requires_grad=True))
        assert found.tolist() == [0.0, 0.5, 0.0]


@pytest.mark.parametrize("incoming", [np.inf, np.nan])
def test_zeros_are_no_products(incoming):
    """A gradient that is not finite stays where it belongs."""
    x = tn.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    g = tn.tensor([[incoming, 1.0], [1.0, 1.0]])
    part = tn.zeros(2)
    for y in (
        x.select_scatter(part, 0, 0),
        x.slice_scatter(part[None], 0, 0, 1),
        x.diagonal_scatter(part),
        x.put(tn.tensor([0]), tn.zeros(1)),
    ):
        (found,) = tn.autograd.grad(y, x, g)
        assert found.tolist()[0][0] == 0
    for y in (x.max(), x.min(), x.median(), x.nanmedian()):
        (found,) = tn.autograd.grad(y, x, tn.tensor(incoming))
        assert sorted(found.flatten().tolist())[:3] == [0, 0, 0] or np.isnan(incoming)
        assert (found == 0).sum() == 3


def test_a_sample_beside_the_image_ignores_it():
    image = tn.full((1, 1, 2, 2), np.nan)
    grid = tn.full((1, 1, 1, 2), 9.0)
    sampled = tn.nn.functional.grid_sample(image, grid, align_corners=False)
    assert sampled.item() == 0


def test_one_matrix_does_not_spoil_the_exponentials_of_others():
    matrices = tn.tensor([[[np.nan]], [[0.0]]])
    assert matrices.matrix_exp().tolist()[1] == [[1.0]]


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_singular_values_of_any_size(scale):
    a = tn.tensor([[3.0, 0.0], [0.0, 1.0]], dtype=tn.float64) * scale
    a.requires_grad_()
    for y, expected in (
        (tn.linalg.svdvals(a).sum(), [[1, 0], [0, 1]]),
        (tn.linalg.matrix_norm(a, "nuc"), [[1, 0], [0, 1]]),
        (tn.linalg.matrix_norm(a, 2), [[1, 0], [0, 0]]),
    ):
        (found,) = tn.autograd.grad(y, a)
        assert_near(found.numpy(), np.array(expected, float))
    U, S, _ = tn.linalg.svd(a)
    (found,) = tn.autograd.grad(U[0, 1] / U[0, 0], a)
    # By the perturbation (a_01, a_10) U turns by (3 a_10 + a_01) / (9 - 1) / scale.
    assert_near(found.numpy() * scale, np.array([[0, -1 / 8], [-3 / 8, 0]]))
