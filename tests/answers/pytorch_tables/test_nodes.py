"""The nodes of gradients: PyTorch's names, recorded, and under --oracle its own."""

import re

import pytest

import tinynet as tn

from . import nodes, store


def difference(name, theirs):
    """Return in what the names of a recorded sample differ from PyTorch's."""
    sample, known_tensors = store.load()[name], []
    args, kwargs = (store.thawed(sample[k], known_tensors) for k in ("args", "kwargs"))
    function = store.looked_up(sample["faces"]["function"]["path"])
    return nodes.different(theirs, nodes.names(tn, function, args, kwargs))


def test_gradients_have_the_nodes_of_pytorch():
    found = {name: difference(name, theirs) for name, theirs in nodes.COLUMN.load().items()}
    wrong = {name: lines for name, lines in found.items() if lines}
    used = {name: nodes.COLUMN.known(name.split("/")[0]) for name in wrong}
    assert {name: wrong[name] for name, pattern in used.items() if pattern is None} == {}
    assert nodes.COLUMN.unused({*used.values()}) == [], "strike them"


@pytest.mark.oracle
@pytest.mark.slow
def test_the_record_is_that_of_the_installed_pytorch():
    from . import rows

    record = nodes.COLUMN.load()
    dtypes = tuple({name.split("/")[1] for name in record})
    live = {
        name: row.their_nodes()
        for row in rows.rows(faces=("function",), dtypes=dtypes, most=rows.MOST)
        if (name := re.sub("/function", "", row.id)) in record
    }
    assert live == record
