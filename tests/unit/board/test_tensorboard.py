"""The real TensorBoard reads what was written: its loaders, its graph plugin, its server."""

import contextlib
import json
import re
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
import warnings

import numpy as np
import pytest

from tests.tools.patience import PATIENCE
from tinynet.board import Arguments, SummaryWriter
from tinynet.board.graphs.recorder import record_forward

pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")

with warnings.catch_warnings():  # what TensorBoard and its dependencies warn about is not ours
    warnings.simplefilter("ignore")
    from google.protobuf import text_format
    from tensorboard import context
    from tensorboard.backend.event_processing import (
        data_provider,
        event_accumulator,
        event_file_loader,
        plugin_event_multiplexer,
    )
    from tensorboard.compat.proto import graph_pb2
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.graph import graphs_plugin

    import tinynet as tn
    from tests.unit.board import models, reader
    from tests.unit.board.test_recorder import EXAMPLES

ALL = {"scalars": 0, "tensors": 0}


def accumulated(folder):
    accumulator = event_accumulator.EventAccumulator(str(folder), ALL)
    return accumulator.Reload()


def same(proto, graph):
    """Whether a GraphDef says exactly what a Graph of ours says."""
    assert [node.name for node in proto.node] == [node.name for node in graph.nodes]
    for theirs, ours in zip(proto.node, graph.nodes, strict=True):
        assert (theirs.op, list(theirs.input)) == (ours.op, ours.inputs)
        shapes = [
            tuple(dim.size for dim in shape.dim)
            for shape in theirs.attr["_output_shapes"].list.shape
        ]
        assert shapes == [slot.shape for slot in ours.outputs]
        for key, value in ours.attributes.items():
            assert theirs.attr[key].s.decode() == value
    return True


# ---- its loaders -----------------------------------------------------------------------------


def test_scalars_and_text(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(500):
            writer.add_scalar("train/loss", 1 / (step + 1), step, walltime=1e9 + step)
        writer.add_scalar("new", 0.1, 3, new_style=True, double_precision=True)
        writer.add_text("config", "# Größe", 1)
    found = accumulated(tmp_path)
    events = found.Scalars("train/loss")
    assert [(event.step, event.wall_time) for event in events] == [(i, 1e9 + i) for i in range(500)]
    assert [event.value for event in events] == [float(np.float32(1 / (i + 1))) for i in range(500)]
    assert found.Tensors("config/text_summary")[0].tensor_proto.string_val[0].decode() == "# Größe"
    assert found.Tensors("new")[0].tensor_proto.double_val[0] == 0.1


def test_its_file_loader_reads_every_record(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(25):
            writer.add_scalar("a", step, step)
    (path,) = reader.files(tmp_path)
    events = list(event_file_loader.EventFileLoader(str(path)).Load())
    assert events[0].file_version == "brain.Event:2"
    assert [event.step for event in events[1:]] == list(range(25))


def test_a_resumed_run_hides_what_came_after_its_checkpoint(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(10):
            writer.add_scalar("a", 1.0, step)
    with SummaryWriter(tmp_path, purge_step=6) as writer:
        for step in range(6, 8):
            writer.add_scalar("a", 2.0, step)
    events = accumulated(tmp_path).Scalars("a")
    assert [(event.step, event.value) for event in events] == [
        *((step, 1.0) for step in range(6)),
        *((step, 2.0) for step in range(6, 8)),
    ]


# ---- its graph plugin ------------------------------------------------------------------------


class Plugin:
    """The Graphs plugin on a folder of runs, without a server."""

    def __init__(self, folder):
        runs = plugin_event_multiplexer.EventMultiplexer()
        runs.AddRunsFromDirectory(str(folder))
        runs.Reload()
        provider = data_provider.MultiplexerDataProvider(runs, str(folder))
        self.plugin = graphs_plugin.GraphsPlugin(base_plugin.TBContext(data_provider=provider))

    def info(self):
        return self.plugin.info_impl(context.RequestContext(), experiment="e")

    def graph(self, run, tag=None):
        body, _ = self.plugin.graph_impl(
            context.RequestContext(),
            run,
            tag,
            False,
            experiment="e",
            limit_attr_size=1024,
            large_attrs_key="_too_large_attrs",
        )
        assert "_too_large_attrs" not in body
        return text_format.Parse(body, graph_pb2.GraphDef())


@pytest.mark.parametrize("example", EXAMPLES)
def test_graph(tmp_path, example):
    model, args, kwargs = EXAMPLES[example]()
    arguments = Arguments(*args, **kwargs)
    with SummaryWriter(tmp_path / "run") as writer:
        writer.add_graph(model, arguments, use_strict_trace=False)
    assert same(accumulated(tmp_path / "run").Graph(), record_forward(model, arguments))
    plugin = Plugin(tmp_path)
    assert plugin.info() == {"run": {"run": "run", "tags": {}, "run_graph": True}}
    assert same(plugin.graph("run"), record_forward(model, arguments))


def test_several_graphs_of_a_run(tmp_path):
    """The generator and the discriminator of a GAN, and one of the two again."""
    x, given = tn.rand(2, 4), [models.MLP(), models.Shared(), models.MLP()]
    with SummaryWriter(tmp_path / "run") as writer:
        for model in given:
            writer.add_graph(model, x)
    plugin = Plugin(tmp_path)
    info = plugin.info()["run"]
    assert info["run_graph"]
    assert {tag: entry["op_graph"] for tag, entry in info["tags"].items()} == {
        "Shared": True,
        "MLP_1": True,
    }
    for tag, model in zip([None, "Shared", "MLP_1"], given, strict=True):
        assert same(plugin.graph("run", tag), record_forward(model, Arguments(x)))


# ---- its server ------------------------------------------------------------------------------


@contextlib.contextmanager
def server(folder, fast=False):
    """The address of a TensorBoard that was started on a folder of runs."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder)]
    command += ["--host", "127.0.0.1", "--port", "0", "--load_fast", str(fast).lower()]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    said = []
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        for line in process.stderr:
            said.append(line)
            address = re.search(r"http://127\.0\.0\.1:\d+/", line)
            if address:
                yield address.group()
                return
        raise AssertionError(f"TensorBoard did not start: {''.join(said)}")
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        process.stderr.close()


def fetch(address, path, **query):
    url = f"{address}data/plugin/{path}?{urllib.parse.urlencode(query)}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=PATIENCE) as answer:
        return answer.read().decode()


def test_server_answers_with_our_scalars_text_and_graphs(tmp_path):
    model, args, kwargs = EXAMPLES["structured"]()
    arguments = Arguments(*args, **kwargs)
    with SummaryWriter(tmp_path / "run") as writer:
        for step in range(3):
            writer.add_scalar("train/loss", step / 2, step)
        writer.add_text("config", "hello")
        writer.add_graph(model, arguments, use_strict_trace=False)
        writer.add_graph(models.MLP(), tn.rand(2, 4))
    with server(tmp_path) as address:
        scalars = json.loads(fetch(address, "scalars/scalars", run="run", tag="train/loss"))
        text = json.loads(fetch(address, "text/text", run="run", tag="config/text_summary"))
        info = json.loads(fetch(address, "graphs/info"))
        graph = fetch(address, "graphs/graph", run="run", limit_attr_size=1024, large_attrs_key="x")
        tagged = fetch(address, "graphs/graph", run="run", tag="MLP")
    assert [(step, value) for _, step, value in scalars] == [(0, 0.0), (1, 0.5), (2, 1.0)]
    assert "hello" in text[0]["text"]
    assert info["run"]["run_graph"]
    assert info["run"]["tags"]["MLP"]["op_graph"]
    parsed = text_format.Parse(graph, graph_pb2.GraphDef())
    assert same(parsed, record_forward(model, arguments))
    assert "MLP/Linear[fc1]/weight" in tagged
