"""The nodes of gradients: PyTorch's names, recorded, and under --oracle its own."""

import re

import pytest

import tinynet as tn

from . import nodes, store

SAMPLES = store.load()


def difference(name, theirs):
    """Return in what the names of a recorded sample differ from PyTorch's."""
    sample, known_tensors = SAMPLES[name], []
    args, kwargs = (store.thawed(sample[k], known_tensors) for k in ("args", "kwargs"))
    function = store.looked_up(sample["faces"]["function"]["path"])
    return nodes.different(theirs, nodes.names(tn, function, args, kwargs))


def test_gradients_have_the_nodes_of_pytorch():
    found = {name: difference(name, theirs) for name, theirs in nodes.load().items()}
    wrong = {name: lines for name, lines in found.items() if lines}
    assert {n: lines for n, lines in wrong.items() if nodes.known(n) is None} == {}
    used = {nodes.known(name) for name in wrong}
    assert [pattern for pattern in nodes.KNOWN if pattern not in used] == [], "strike them"


@pytest.mark.oracle
@pytest.mark.slow
def test_the_record_is_that_of_the_installed_pytorch():
    from . import rows

    record = nodes.load()
    live = {
        name: row.their_nodes()
        for row in rows.rows(faces=("function",), dtypes=("float64",), most=rows.MOST)
        if (name := re.sub("/function", "", row.id)) in record
    }
    assert live == record
