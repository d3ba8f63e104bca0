"""The page on what of PyTorch is here says what is so, and enough is here."""

import pytest

from docs.coverage.table import PAGE, missing, page, share

ALMOST_ALL = (
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.utils.data",
    "torch.distributions",
    "torch.distributions.constraints",
    "torch",
    "torch.autograd",
    "torch.func",
    "torch.special",
)


def test_the_page_says_what_is_so():
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m docs.coverage"


@pytest.mark.parametrize("namespace", ALMOST_ALL)
def test_nine_in_ten_are_there(namespace):
    assert share(namespace) >= 0.9, missing(namespace)
