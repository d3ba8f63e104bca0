"""Every keyword of PyTorch's C signatures: ``words.json`` has those of its own stubs, by overload.

All words of an overload are passed at once. A word that a function does not accept is the one that
its TypeError names; other errors are about the values, after the arguments were taken.
"""

import json
import re
import warnings
from pathlib import Path

import tinynet as tn
from tests.tools.grouped import for_each, in_parts

WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
REFUSED = re.compile(
    r"unexpected keyword argument '(\w+)'|missing \d+ required positional arguments?: '(\w+)'"
)
KNOWN = {
    **dict.fromkeys(("torch.mm", "torch.bmm", "torch.addmm", "torch.baddbmm"), "out_dtype"),
    "torch.repeat_interleave": "input",  # repeats alone, by position only
    "torch.can_cast": "from from_",  # a word of Python
    **dict.fromkeys(("torch.rrelu", "torch.rrelu_"), "generator"),
    **dict.fromkeys(
        "torch.bitwise_and torch.bitwise_left_shift torch.bitwise_or torch.bitwise_right_shift"
        " torch.bitwise_xor torch.bucketize torch.float_power torch.pow torch.remainder"
        " torch.searchsorted torch.xlogy".split(),
        "self input",  # numbers: PyTorch's other name of "input"
    ),
    "torch.spmm": "input mat1",
    "torch.sspaddmm": "input self out",
    "Tensor.to_sparse": "blocksize dense_dim",
    "Tensor.to_sparse_csr": "dense_dim",
}
"""Words that tinynet does not have: dtypes of results that only GPUs take; sparse parts."""


def refused(owner, name, words, make):
    """Return the words that a function does not accept."""
    found, left = [], list(words)
    while True:
        function = getattr(make(2, 2) if owner == "Tensor" else tn, name)
        try:
            function(**{word: make(2, 2) for word in left})
        except Exception as error:
            match = REFUSED.search(str(error))
            if match is None:
                return found
            found.append(match[1] or match[2])
            if found[-1] not in left:
                return found
            left.remove(found[-1])
        else:
            return found


@for_each(in_parts(WORDS.keys(), 40))
def test_words(key):
    owner, name = key.split(".")
    there = getattr(tn.Tensor if owner == "Tensor" else tn, name, None)
    if there is None:  # docs/coverage.md has the reason
        return
    with warnings.catch_warnings(action="ignore"):
        for words in WORDS[key]:
            missing = set(refused(owner, name, words.split(), tn.ones))
            assert missing <= set(KNOWN.get(key, "").split()), f"{name}({words})"
