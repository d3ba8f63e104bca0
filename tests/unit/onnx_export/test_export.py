"""``tn.onnx.export``: its arguments, the file, and what it refuses."""

import io
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import tinynet as tn
from tests.tools.rounding import assert_near, near
from tests.unit.onnx_export.comparing import ROUNDINGS, assert_same, running
from tinynet import nn
from tinynet.base.invocation import installation
from tinynet.onnx import OnnxExporterError, TrainingMode
from tinynet.onnx.errors import UnsupportedOperatorError

ROOT = Path(__file__).parents[3]


def make():
    tn.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2))


def shapes_of(values):
    return {
        v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values
    }


def test_names_and_dimensions():
    graph = tn.onnx.export(make(), tn.ones(5, 3)).model_proto.graph
    assert shapes_of(graph.input) == {"input": ["batch", 3]}
    assert shapes_of(graph.output) == {"output": ["batch", 2]}
    names = {constant.name for constant in graph.initializer}
    assert names == {"0.weight", "0.bias", "3.weight", "3.bias"}
    given = {"input_names": ["x"], "output_names": ["y"], "dynamic_axes": {"x": {0: "n"}, "y": [0]}}
    graph = tn.onnx.export(make(), (tn.ones(5, 3),), **given).model_proto.graph
    assert shapes_of([*graph.input, *graph.output]) == {"x": ["n", 3], "y": ["n", 2]}


def test_no_dimension_is_dynamic():
    program = tn.onnx.export(make(), tn.ones(5, 3), dynamic_axes={})
    assert shapes_of(program.model_proto.graph.input) == {"input": [5, 3]}


def test_dynamic_shapes():
    def model(x, y, scale=1.0):
        return x[:, None] * y * scale

    examples = tn.ones(2, 3), tn.ones(4, 3)
    by_name = {"x": {0: "b"}, "y": None}
    for shapes in (by_name, ({0: "b"}, None)):
        graph = tn.onnx.export(model, examples, dynamic_shapes=shapes).model_proto.graph
        assert shapes_of(graph.input) == {"x": ["b", 3], "y": [4, 3]}
        assert shapes_of(graph.output) == {"output": ["b", 4, 3]}
    graph = tn.onnx.export(model, examples, dynamic_shapes=[("b", None), (object(), None)])
    assert shapes_of(graph.model_proto.graph.input) == {"x": ["b", 3], "y": ["y_dim_0", 3]}


def test_results_in_any_structure():
    class Pair(NamedTuple):
        low: tn.Tensor
        high: tn.Tensor

    def model(x, states):
        return {"pair": Pair(x, x), "states": states, "number": 3}, x + 1

    states = [tn.ones(2), tn.zeros(2)]
    program = tn.onnx.export(model, (tn.ones(2, 3), states))
    names = ["low", "high", "states_0_output", "states_1_output", "output_1"]
    assert [value.name for value in program.model_proto.graph.output] == names
    assert [*shapes_of(program.model_proto.graph.input)] == ["x", "states_0", "states_1"]
    found = running(program)(np.ones((5, 3), "f4"), np.ones(5, "f4"), np.zeros(5, "f4"))
    assert [x.shape for x in found] == [(5, 3), (5, 3), (5,), (5,), (5, 3)]


def test_a_model_that_keeps_what_it_computed_in_an_attribute():
    class Keeping(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.utils.spectral_norm(nn.Linear(3, 2))
            self.hidden = None

        def forward(self, x):
            self.hidden = self.layer(x)
            return self.hidden.tanh()

    assert_same(Keeping().eval(), tn.randn(4, 3))


def test_a_model_in_training_mode_is_exported_in_eval_mode_and_stays_as_it_was():
    model = make().train()
    model[1].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert_same(model, tn.ones(5, 3))
    assert [m.training for m in model.modules()] == [True, True, False, True, True]
    assert all(tn.equal(before[name], value) for name, value in model.state_dict().items())
    with pytest.raises(OnnxExporterError, match="models are exported in eval mode"):
        tn.onnx.export(model, tn.ones(5, 3), training=TrainingMode.TRAINING)


def test_the_model_knows_that_it_is_exported():
    class Net(nn.Module):
        def forward(self, x):
            return x + 1 if tn.onnx.is_in_onnx_export() else x

    program = tn.onnx.export(Net(), tn.zeros(2))
    assert running(program)(np.zeros(3, "f4"))[0].tolist() == [1, 1, 1]
    assert not tn.onnx.is_in_onnx_export()


def test_parameters_as_inputs():
    model = make()
    program = tn.onnx.export(model, tn.ones(5, 3), export_params=False)
    names = ["input", "0.weight", "0.bias", "3.weight", "3.bias"]
    assert [value.name for value in program.model_proto.graph.input] == names
    arrays = [value.numpy() for value in model.state_dict().values()]
    (found,) = running(program)(np.ones((2, 3), "f4"), *arrays)
    with tn.no_grad():
        assert found == near(model.eval()(tn.ones(2, 3)).numpy())


def test_shared_parameters_are_stored_once():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    graph = assert_same(model, tn.ones(2, 3)).model_proto.graph
    assert {x.name for x in graph.initializer} == {"0.weight", "0.bias", "1.bias"}


def test_what_depends_on_parameters_only_is_computed_at_once():
    def count(fold):
        model = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
        program = tn.onnx.export(model, tn.ones(2, 3), do_constant_folding=fold)
        return len(program.model_proto.graph.node)

    assert count(True) < count(False)


@pytest.mark.parametrize("opset", [18, 20, 23])
def test_versions(opset):
    program = assert_same(make(), tn.ones(2, 3), opset_version=opset)
    assert program.model_proto.opset_import[0].version == opset


def test_a_version_that_is_too_low_is_raised():
    with pytest.warns(UserWarning, match="opset_version=11 is too low") as caught:
        program = tn.onnx.export(make(), tn.ones(2, 3), opset_version=11)
    assert caught[0].filename == __file__
    assert program.model_proto.opset_import[0].version == 18


def test_images_of_any_size():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 3, 2, 2)

        def forward(self, x):
            return tn.cat([x, self.up(self.down(x))], 1).flatten(2)

    axes = {"x": {0: "batch", 2: "height", 3: "width"}}
    program = tn.onnx.export(Net(), tn.ones(2, 3, 8, 8), dynamic_axes=axes)
    (found,) = running(program)(np.ones((1, 3, 16, 4), "f4"))
    assert found.shape == (1, 6, 64)


def test_states_whose_batch_is_another_dimension():
    model, states = nn.LSTM(4, 5, batch_first=True), (tn.zeros(1, 2, 5), tn.ones(1, 2, 5))
    axes = {"input": {0: "batch", 1: "time"}, "hx_0": {1: "batch"}, "hx_1": {1: "batch"}}
    program = tn.onnx.export(model, (tn.ones(2, 3, 4), states), dynamic_axes=axes)
    given = tn.ones(3, 7, 4), (tn.zeros(1, 3, 5), tn.ones(1, 3, 5))
    found = running(program)(given[0].numpy(), *(x.numpy() for x in given[1]))
    with tn.no_grad():
        outputs, (h, c) = model(*given)
    for mine, its in zip((outputs, h, c), found, strict=True):
        assert_near(its, mine.double().numpy(), ROUNDINGS)


def test_the_file(tmp_path):
    import onnx

    path, memory = tmp_path / "model.onnx", io.BytesIO()
    for target in (path, memory):
        program = tn.onnx.export(make(), tn.ones(5, 3), target)
    assert path.read_bytes() == memory.getvalue()  # the same model, the same file
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert repr(program) == "ONNXProgram(4 nodes; input, output)"
    place = program.model_proto.graph.node[0].doc_string
    assert place.startswith("test_export.py:") and "test_the_file" in place


def test_kwargs_and_constants():
    def model(x, *, factor, y):
        return x * factor + y

    program = tn.onnx.export(model, tn.ones(2), kwargs={"factor": 3, "y": tn.ones(2)})
    assert running(program)(np.ones(4, "f4"), np.ones(4, "f4"))[0].tolist() == [4] * 4


def test_two_batches_of_different_length():
    program = assert_same(lambda x, y: (x + 1, y.sum(0)), tn.ones(2, 3), tn.ones(2, 4))
    assert shapes_of(program.model_proto.graph.input) == {"x": ["batch", 3], "y": ["batch", 4]}
    program = tn.onnx.export(lambda x, y: x @ y, (tn.ones(2, 3), tn.ones(3, 4)), dynamic_axes={
        "x": [0], "y": {1: "columns"}
    })  # fmt: skip
    (found,) = running(program)(np.ones((5, 3), "f4"), np.ones((3, 7), "f4"))
    assert found.shape == (5, 7)


def test_random_numbers_are_drawn_by_the_graph():
    program = tn.onnx.export(lambda x: x + tn.randn(x.shape[0], 3), tn.zeros(2, 3))
    run = running(program)
    drawn = [run(np.zeros((1000, 3), "f4"))[0] for _ in range(2)]
    assert not np.array_equal(*drawn)
    assert abs(drawn[0].mean()) < 0.1 and abs(drawn[0].std() - 1) < 0.1


# ---- refusals -----------------------------------------------------------------------------------


def test_all_operations_without_a_form_are_named_with_their_lines(tmp_path):
    def model(x):
        y = tn.special.i0(x)
        y = y + tn.lgamma(x)
        return y.relu() + tn.special.i0(y)

    path = tmp_path / "model.onnx"
    with pytest.raises(UnsupportedOperatorError) as raised:
        tn.onnx.export(model, tn.ones(2, 3), path)
    first, *lines = str(raised.value).splitlines()
    assert first == "these operations have no form in ONNX:"
    assert [line.split()[0] for line in lines] == ["i0", "lgamma", "i0"]
    assert "y = tn.special.i0(x)" in lines[0] and "test_export.py:" in lines[0]
    assert not [*tmp_path.iterdir()]


def test_a_length_that_the_example_fixes():
    with pytest.raises(OnnxExporterError, match=r"the model fails with batch = 2: .*\n.*\{\} for"):
        tn.onnx.export(lambda x: x.view(5, 3) * 2, tn.ones(5, 3))
    assert_same(lambda x: x.view(5, 3) * 2, tn.ones(5, 3), dynamic_axes={}, batches=(5,))


def test_a_branch_that_depends_on_the_batch():
    def model(x):
        return x.exp() if x.shape[0] > 2 else x.log()

    text = r"something else at other sizes of batch \(test_export.py:\d+ in model   return x.exp"
    with pytest.raises(OnnxExporterError, match=text):
        tn.onnx.export(model, tn.ones(5, 3))


def test_a_step_that_only_some_batches_take():
    with pytest.raises(OnnxExporterError, match="something else at other sizes of batch"):
        tn.onnx.export(lambda x: x if x.shape[0] > 2 else x.exp(), tn.ones(5, 3))


def test_a_loop_over_the_batch():
    with pytest.raises(OnnxExporterError, match="something else at other sizes of batch"):
        tn.onnx.export(lambda x: sum(row.exp() for row in x), tn.ones(5, 3))


def test_values_that_python_reads():
    with pytest.raises(OnnxExporterError, match="cannot be captured: item.. reads values"):
        tn.onnx.export(lambda x: x * x.sum().item(), tn.ones(5, 3))


@pytest.mark.parametrize(
    "args, options, error, text",
    [
        ((), {}, TypeError, "the example holds no tensor"),
        (([1.0, 2.0],), {}, TypeError, "the example holds no tensor"),
        ((tn.ones(2, 3), tn.ones(2)), {}, TypeError, "the example does not fit the model"),
        (tn.ones(0, 3), {}, OnnxExporterError, r"is empty: its shape is \[0, 3\]"),
        (tn.ones(2, 4), {}, OnnxExporterError, "the model fails with batch = 2: "),
        (tn.ones(2, 3), {"dynamic_axes": {"y": [0]}}, OnnxExporterError, "names 'y', which is"),
        (tn.ones(2, 3), {"dynamic_axes": {"input": [2]}}, OnnxExporterError, "has 2 dimensions"),
        (
            tn.ones(2, 3),
            {"dynamic_shapes": {"y": {}}},
            OnnxExporterError,
            "which is not an argument",
        ),
        (tn.ones(2, 3), {"dynamic_shapes": ({}, {})}, OnnxExporterError, "the structure of the"),
        (tn.ones(2, 3), {"input_names": ["a", "b"]}, OnnxExporterError, "has 2 names, and there"),
        (tn.ones(2, 3), {"output_names": ["input"]}, OnnxExporterError, "two values have the name"),
        (tn.ones(2, 3), {"opset_version": 99}, OnnxExporterError, "must be from 18 to"),
    ],
)
def test_bad_input(args, options, error, text):
    with pytest.raises(error, match=text):
        tn.onnx.export(make(), args, **options)


def test_no_model():
    with pytest.raises(TypeError, match="expects a module or a function, but got 3"):
        tn.onnx.export(3, tn.ones(2))
    with pytest.raises(OnnxExporterError, match="the model returns no tensor"):
        tn.onnx.export(lambda x: None, tn.ones(2))


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        tn.onnx.export(make(), tn.ones(2, 3), tmp_path / "nowhere" / "model.onnx")
    with pytest.raises(IsADirectoryError):
        tn.onnx.export(make(), tn.ones(2, 3), tmp_path)


def test_without_the_package():
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import tinynet as tn\n"
        "try: tn.onnx.export(tn.nn.ReLU(), tn.ones(2))\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert f"which is not installed: `{installation('onnx')}`" in run.stdout, run.stderr


def test_as_torch():
    code = "import tinynet.as_torch, torch.onnx; print(torch.onnx.export.__module__)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout == "tinynet.onnx.export\n", run.stderr
