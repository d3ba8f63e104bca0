"""What autocast does to each function, as PyTorch's documentation lists it for the CPU.

Source: https://docs.pytorch.org/docs/2.13/amp.html, "CPU Op-Specific Behavior".
"""

import warnings

import pytest

import tinynet as tn
import tinynet.nn.functional as F
from tests.answers.pytorch_tables.outcomes import AbsentError

pytest.importorskip("ml_dtypes", reason="needs ml_dtypes: pip install ml_dtypes")

ONE, PAIR = tn.randn(4, 4), [tn.randn(4, 4), tn.randn(4, 4)]
SPD = tn.eye(4) * 2
CUBE, PLANE = tn.randn(1, 2, 4, 4, 4), tn.randn(1, 2, 4, 4)
POSITIVE = tn.full((4, 4), 0.5)
CLASSES = tn.tensor([0, 1, 2, 3])

LOWER = {
    "conv1d": lambda x: F.conv1d(tn.ones(1, 4, 4), x[:, :, None]),
    "conv2d": lambda x: F.conv2d(tn.ones(1, 4, 4, 4), x[:, :, None, None]),
    "conv3d": lambda x: F.conv3d(tn.ones(1, 4, 2, 2, 2), x[:, :, None, None, None]),
    "conv_transpose1d": lambda x: F.conv_transpose1d(tn.ones(1, 4, 4), x[:, :, None]),
    "conv_transpose2d": lambda x: F.conv_transpose2d(tn.ones(1, 4, 2, 2), x[:, :, None, None]),
    "conv_transpose3d": lambda x: F.conv_transpose3d(
        tn.ones(1, 4, 2, 2, 2), x[:, :, None, None, None]
    ),
    "bmm": lambda x: tn.bmm(x[None], x[None]),
    "mm": lambda x: tn.mm(x, x),
    "linalg_vecdot": lambda x: tn.linalg.vecdot(x, x),
    "baddbmm": lambda x: tn.baddbmm(x, x[None], x[None]),
    "addmm": lambda x: tn.addmm(x, x, x),
    "addbmm": lambda x: tn.addbmm(x, x[None], x[None]),
    "linear": lambda x: F.linear(x, x, x[0]),
    "matmul": lambda x: tn.matmul(x, x[0]),
    "prelu": lambda x: F.prelu(x, x[0]),
    "scaled_dot_product_attention": lambda x: F.scaled_dot_product_attention(
        x[None], x[None], x[None]
    ),
    # Made of the others:
    "einsum": lambda x: tn.einsum("ij,jk", x, x),
    "multi_dot": lambda x: tn.linalg.multi_dot([x, x, x]),
    "tensordot": lambda x: tn.tensordot(x, x, 1),
}
SINGLE = {
    "avg_pool3d": lambda x: F.avg_pool3d(x.reshape(1, 4, 2, 2), 2),
    "max_pool3d": lambda x: F.max_pool3d(x.reshape(1, 4, 2, 2), 2),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x.reshape(1, 4, 2, 2), 1),
    "adaptive_max_pool3d": lambda x: F.adaptive_max_pool3d(x.reshape(1, 4, 2, 2), 1),
    "max_unpool2d": lambda x: F.max_unpool2d(*F.max_pool2d(x[None], 2, return_indices=True), 2),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x[None], 2, output_size=2),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(x.sigmoid(), x.sigmoid()),
    "binary_cross_entropy_with_logits": lambda x: F.binary_cross_entropy_with_logits(x, x),
    "grid_sampler": lambda x: F.grid_sample(
        x[None, None], x.reshape(1, 2, 4, 2), align_corners=True
    ),
    "prod": lambda x: x.prod(0),
    "quantile": lambda x: tn.quantile(x, 0.5),
    "nanquantile": lambda x: tn.nanquantile(x, 0.5),
    "cdist": lambda x: tn.cdist(x, x),
    "trace": lambda x: tn.trace(x),
    "cholesky": lambda x: tn.cholesky(x * 0 + SPD.to(x.dtype)),
    "cholesky_inverse": lambda x: tn.cholesky_inverse(x * 0 + SPD.to(x.dtype)),
    "cholesky_solve": lambda x: tn.cholesky_solve(x, x * 0 + SPD.to(x.dtype)),
    "inverse": lambda x: tn.inverse(x),
    "pinverse": lambda x: tn.pinverse(x),
    "reflection_pad1d": lambda x: F.pad(x[None], (1, 1), mode="reflect"),
    "reflection_pad2d": lambda x: F.pad(x[None], (1, 1, 1, 1), mode="reflect"),
    "replication_pad1d": lambda x: F.pad(x[None], (1, 1), mode="replicate"),
    "replication_pad2d": lambda x: F.pad(x[None], (1, 1, 1, 1), mode="replicate"),
    "replication_pad3d": lambda x: F.pad(x.reshape(1, 4, 2, 2), (1,) * 6, mode="replicate"),
    "mse_loss": lambda x: F.mse_loss(x, x),
    "cosine_embedding_loss": lambda x: F.cosine_embedding_loss(x, x, tn.ones(4)),
    "nll_loss": lambda x: F.nll_loss(x, CLASSES),
    "nll_loss2d": lambda x: F.nll_loss(x.reshape(1, 4, 2, 2), CLASSES.reshape(1, 2, 2)),
    "hinge_embedding_loss": lambda x: F.hinge_embedding_loss(x, tn.ones(4, 4)),
    "poisson_nll_loss": lambda x: F.poisson_nll_loss(x, x),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x),
    "cross_entropy_loss": lambda x: F.cross_entropy(x, CLASSES),
    "l1_loss": lambda x: F.l1_loss(x, x),
    "huber_loss": lambda x: F.huber_loss(x, x),
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, x, tn.ones(4, 4)),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, x),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(x, x, x),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x, CLASSES),
    "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(x, tn.zeros(4, 4).long()),
    "ctc_loss": lambda x: F.ctc_loss(
        x[:, None].log_softmax(-1), tn.tensor([[1]]), tn.tensor([4]), tn.tensor([1])
    ),
    "kl_div": lambda x: F.kl_div(x, x, reduction="sum"),
    "geqrf": lambda x: tn.geqrf(x),
    "qr": lambda x: tn.qr(x),
    "svd": lambda x: tn.svd(x),
    "triangular_solve": lambda x: tn.triangular_solve(x, SPD.to(x.dtype)),
    "linalg_cond": lambda x: tn.linalg.cond(x),
    "linalg_solve": lambda x: tn.linalg.solve(SPD.to(x.dtype), x),
    "linalg_cholesky": lambda x: tn.linalg.cholesky(x * 0 + SPD.to(x.dtype)),
    "linalg_svdvals": lambda x: tn.linalg.svdvals(x),
    "linalg_eigvalsh": lambda x: tn.linalg.eigvalsh(x),
    "linalg_eigh": lambda x: tn.linalg.eigh(x),
    "linalg_inv": lambda x: tn.linalg.inv(x),
    "linalg_householder_product": lambda x: tn.linalg.householder_product(x, x[0]),
    "linalg_tensorinv": lambda x: tn.linalg.tensorinv(SPD.to(x.dtype), ind=1),
    "linalg_qr": lambda x: tn.linalg.qr(x),
    "linalg_lstsq": lambda x: tn.linalg.lstsq(x, x),
}


def kinds(made):
    made = made if isinstance(made, tuple) else [made]
    return {t.dtype for t in made if isinstance(t, tn.Tensor) and t.is_floating_point()}


@pytest.mark.parametrize("name", LOWER)
@pytest.mark.parametrize("dtype", [tn.bfloat16, tn.float16], ids=repr)
def test_the_lower_precision(name, dtype):
    with tn.autocast("cpu", dtype=dtype):
        assert kinds(LOWER[name](ONE)) == {dtype}


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.filterwarnings("ignore:.*is deprecated in favor of")
def test_float32(name):
    with tn.autocast("cpu"):
        assert kinds(SINGLE[name](ONE.bfloat16())) == {tn.float32}


@pytest.mark.oracle
@pytest.mark.slow
def test_the_table_of_pytorch():
    """Compare the dtypes of results over PyTorch's table of operations."""
    import torch

    from tests.answers.pytorch_tables import rows, translate

    translate.install()
    different = {}
    for kind in (torch.float32, torch.bfloat16):
        for row in autocast_rows(rows, kind):
            theirs, ours = outcomes(row, torch, translate)
            if theirs is not None and ours != theirs:
                different[row.op] = kind, theirs, ours
    unexpected = {k: v for k, v in different.items() if k not in KNOWN}
    assert not unexpected


# PyTorch casts what these are made of, and tinynet makes them of something else; what raises does
# so without autocast, too.
KNOWN = {
    "inner", "linalg.lu_solve", "linalg.pinv", "linalg.pinv.hermitian", "nn.functional.bilinear",
    "nn.functional.linear_cross_entropy.chunked",
    "nn.functional.linear_cross_entropy.chunked_none", "nn.functional.max_pool3d", "tensordot",
    "as_strided.partial_views", "matrix_exp", "norm.nuc", "searchsorted",
}  # fmt: skip


def autocast_rows(rows, kind):
    kept = rows.DTYPES
    rows.DTYPES = (kind,)
    try:
        yield from rows.rows("", ("function",), (str(kind)[6:],), 2)
    finally:
        rows.DTYPES = kept


def outcomes(row, torch, translate):
    """The dtypes of both libraries' results, None where PyTorch raises; ours may be a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with torch.autocast("cpu"):
                theirs = names(row.call(*row.args, **row.kwargs))
        except Exception:
            return None, None
        try:
            memo: dict = {}
            call = translate.function(row.call, row.path)
            args = translate.arguments(row.args, memo)
            kwargs = translate.arguments(row.kwargs, memo)
            with tn.autocast("cpu"):
                return theirs, names(call(*args, **kwargs))
        except AbsentError:
            return None, None
        except Exception as error:
            return theirs, f"{type(error).__name__}: {error}"[:150]


def names(made):
    made = made if isinstance(made, (tuple, list)) else [made]
    tensors = [t for t in made if hasattr(t, "is_floating_point") and t.is_floating_point()]
    return [str(t.dtype).rpartition(".")[2] for t in tensors]
