"""The programs of docs/exchange.md run, on files that PyTorch would have written."""

import re
from pathlib import Path

import pytest

import tinynet as tn
from tests.unit.exchange.test_pytorch import CALLS, zipped
from tinynet import nn, optim
from tinynet.exchange import ExchangeError, load_file, load_pytorch, save_file, save_pytorch

PAGE = (Path(__file__).parents[3] / "docs" / "exchange.md").read_text(encoding="utf-8")


def test_programs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = optim.Adam(net.parameters())
    net(tn.ones(1, 4)).sum().backward()
    optimizer.step()
    save_file(net.state_dict(), "model.safetensors")
    save_pytorch({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, "training.pt")
    names = {}
    programs = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(programs) == 6
    for program in programs:
        exec(program, names)
    assert capsys.readouterr().out == (
        "Namespace(lr=0.001, layers=[8])\n"
        "Linear(in_features=4, out_features=8, bias=True)\n"
        "['0.bias', '0.weight', '2.bias', '2.weight'] {'epoch': '12'}\n[8, 4]\n"
    )
    assert (names["rows"] == net[0].weight[2:5]).all()
    assert names["optimizer"].state_dict()["state"][0]["step"] == 1
    assert set(load_file("tied.safetensors")) == {"0.weight", "1.bias"}


def test_the_message_of_a_hostile_pickle_reads_as_shown():
    import pickle

    with pytest.raises(ExchangeError) as error:
        load_pytorch(zipped(pickle.dumps(CALLS["system"][0], 2)))
    shown = next(line for line in PAGE.splitlines() if "posix.system" in line)
    assert str(error.value).replace("nt.system", "posix.system") == shown.replace(
        "model.pt", "<BytesIO>"
    )
