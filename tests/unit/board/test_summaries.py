"""What the families of `add_...` methods compute, accept and refuse."""

import inspect
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from tinynet.utils.tensorboard.summary import hparams

import tinynet as tn
from tests.tools.patience import PATIENCE
from tests.tools.rounding import near
from tests.unit.board import pictures, reader
from tinynet.board import BoardWarning, SummaryWriter
from tinynet.board.summaries.pixels import lettered, png

ROOT = Path(__file__).parents[3]
RECORDED = json.loads((Path(__file__).parent / "signatures.json").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def writer(folder):
    with SummaryWriter(folder) as writer:
        yield writer


def values(writer):
    writer.flush()
    return [value for event in reader.events(writer.log_dir) for value in event.summary.value]


def only(writer):
    (value,) = values(writer)
    return value


# ---- signatures ------------------------------------------------------------------------------


def described(function):
    """name -> default of each parameter, in order; defaults as text."""
    return [
        [name, "required" if one.default is one.empty else repr(one.default)]
        for name, one in inspect.signature(function).parameters.items()
        if name != "self"
    ]


@pytest.mark.parametrize("name", RECORDED["methods"])
def test_signature_is_pytorchs(name):
    assert described(getattr(SummaryWriter, name)) == RECORDED["methods"][name]


@pytest.mark.oracle
def test_recorded_signatures_are_those_of_pytorch():
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    found = {
        name: described(member)
        for name, member in inspect.getmembers(tensorboard.SummaryWriter, inspect.isfunction)
        if name == "__init__" or not name.startswith("_")
    }
    assert found == RECORDED["methods"]


# ---- histograms ------------------------------------------------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("bins", ["tensorflow", "auto", "fd", 7, [-1.0, 0.0, 0.5, 4.0]])
@pytest.mark.parametrize("max_bins", [None, 5, 64])
def test_histogram_is_pytorchs(writer, bins, max_bins):
    summary = pytest.importorskip("torch.utils.tensorboard.summary")
    data = np.random.default_rng(1).normal(size=500)
    theirs = bins
    if bins == "tensorflow":
        module = pytest.importorskip("torch.utils.tensorboard")
        theirs = module.SummaryWriter(f"{writer.log_dir}/theirs").default_bins
    expected = summary.make_histogram(data, theirs, max_bins)
    writer.add_histogram("a", data, bins=bins, max_bins=max_bins)
    found = only(writer).histo
    # Merged bins at the end: PyTorch's last edge is right only without a remainder.
    np.testing.assert_allclose(found.bucket, expected.bucket)
    np.testing.assert_allclose(found.bucket_limit, expected.bucket_limit, rtol=1e-11)
    for field in ("min", "max", "num", "sum", "sum_squares"):
        assert getattr(found, field) == pytest.approx(getattr(expected, field))


def test_histogram_without_finite_values_is_left_out_with_one_warning(writer):
    with pytest.warns(BoardWarning, match="2 of 3 values are inf or nan, and left out") as caught:
        writer.add_histogram("a", [np.nan, 1.0, np.inf])
        writer.add_histogram("a", [np.nan])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    histogram = only(writer).histo
    assert (histogram.num, sum(histogram.bucket), histogram.max) == (1, 1, 1.0)


def test_histogram_of_one_value_and_of_none(writer):
    writer.add_histogram("a", tn.tensor(3), bins=1)
    assert sum(only(writer).histo.bucket) == 1
    writer.add_histogram("b", [5.0], bins=[0.0, 1.0])
    assert sum(values(writer)[-1].histo.bucket) == 0
    with pytest.raises(ValueError, match=r"^The input has no element\."):
        writer.add_histogram("a", [])
    with pytest.raises(ValueError, match=r"^len\(bucket_limits\) != len\(bucket_counts\), see the"):
        writer.add_histogram_raw("a", 0, 1, 1, 1, 1, [1, 2], [1])


# ---- pictures --------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (33, 17)])
def test_png(size, channels):
    pixels = np.random.default_rng(0).integers(0, 256, (*size, channels), dtype=np.uint8)
    encoded = png(pixels)
    np.testing.assert_array_equal(pictures.picture(encoded), pixels)
    image = pytest.importorskip("PIL.Image", reason="the same with Pillow, where it is installed")
    shown = np.asarray(image.open(io.BytesIO(encoded))).reshape(pixels.shape)
    np.testing.assert_array_equal(shown, pixels)


@pytest.mark.parametrize("dataformats", ["CHW", "HWC", "WHC", "cwh"])
def test_orders_of_dimensions(writer, dataformats):
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    order = ["HWC".index(letter) for letter in dataformats.upper()]
    writer.add_image("a", tn.tensor(pixels.transpose(order)), dataformats=dataformats)
    image = only(writer).image
    assert (image.height, image.width, image.colorspace) == (4, 5, 3)
    np.testing.assert_array_equal(pictures.picture(image.encoded_image_string), pixels)


def test_colours_of_all_types(writer):
    for given in ([[0.0, 0.5, 1.0, 2.0, -1.0, np.nan]], [[False, True]], [[0, 1, 7]]):
        writer.add_image("a", given, dataformats="HW")
    shown = [pictures.picture(one.image.encoded_image_string).ravel() for one in values(writer)]
    assert [one.tolist() for one in shown] == [[0, 127, 255, 255, 0, 0], [0, 255], [0, 255, 255]]


def test_a_batch_stands_eight_in_a_row(writer):
    batch = np.arange(11, dtype=np.uint8).repeat(6).reshape(11, 2, 3, 1)
    writer.add_images("a", batch, dataformats="NHWC")
    shown = pictures.picture(only(writer).image.encoded_image_string)[..., 0]
    assert shown.shape == (4, 24)
    assert shown[::2, ::3].tolist() == [list(range(8)), [8, 9, 10, 0, 0, 0, 0, 0]]


@pytest.mark.oracle
def test_pictures_are_pytorchs(writer):
    summary = pytest.importorskip("torch.utils.tensorboard.summary")
    image = pytest.importorskip("PIL.Image")
    generator = np.random.default_rng(0)
    for data, dataformats in [
        (generator.random((3, 6, 7), np.float32), "CHW"),
        (generator.random((6, 7), np.float32), "HW"),
        (generator.random((11, 1, 6, 7)), "NCHW"),
        (generator.integers(0, 256, (9, 6, 7, 3), dtype=np.uint8), "NHWC"),
    ]:
        writer.add_image("a", data, dataformats=dataformats)
        theirs = summary.image("a", data, dataformats=dataformats).value[0].image
        expected = np.asarray(image.open(io.BytesIO(theirs.encoded_image_string)))
        shown = pictures.picture(values(writer)[-1].image.encoded_image_string)
        np.testing.assert_array_equal(np.broadcast_to(shown, expected.shape), expected)


def test_boxes_are_cut_off_at_the_border_and_scaled(writer):
    black = np.zeros((1, 6, 8))
    writer.add_image_with_boxes("a", black, [[-5, 1, 3, 20], [np.nan] * 4], rescale=2)
    shown = pictures.picture(only(writer).image.encoded_image_string)
    assert shown.shape == (12, 16, 3)
    red = shown[::2, ::2, 0] == 255
    expected = np.zeros((6, 8), bool)
    expected[1:3, :4] = expected[:, 2:4] = True
    expected[0, 2:4] = False
    expected[0, 0] = True  # what is not a number counts as 0
    np.testing.assert_array_equal(red, expected)


def test_boxes_in_grey_with_alpha(writer):
    writer.add_image_with_boxes("a", np.full((2, 5, 5), 0.2), [[0, 0, 1, 1]])
    shown = pictures.picture(only(writer).image.encoded_image_string)
    assert shown[0, 0].tolist() == [255, 0, 0, 255]
    assert shown[4, 4].tolist() == [51, 51, 51, 51]


def test_labels_of_boxes(writer):
    pytest.importorskip("PIL.Image", reason="Pillow is not installed (the extra 'images')")
    black = np.zeros((4, 40, 60))
    black[3] = 0.5
    boxes = [[2, 3, 50, 30], [55, 30, 90, 90], [0, 0, 9, 9]]
    writer.add_image_with_boxes("a", black, boxes, rescale=2, labels=["dog 0.9", "Straße", " "])
    shown = pictures.picture(only(writer).image.encoded_image_string).astype(int)
    ink = lettered("dog 0.9")
    height, width = ink.shape
    assert height > 8 and width > 30 and ink.max() > 200 and not ink[0].any()
    place = shown[62 - height : 62, 4 : 4 + width]  # twice row 31, which is below the box
    np.testing.assert_allclose(place[..., 0], 255 - ink, atol=1)
    assert not place[..., 1:3].any() and (place[..., 3] == 255).all()
    height, width = lettered("Straße").shape
    corner = shown[-height:, -width:]
    assert (corner[..., 0] > 250).mean() > 0.3, "moved inside"
    writer.add_image_with_boxes("a", black[:3, :3, :3], boxes[:1], labels="much too long")
    assert pictures.picture(values(writer)[-1].image.encoded_image_string).shape == (3, 3, 3)


def test_labels_without_pillow(writer, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install pillow"):
        writer.add_image_with_boxes("a", np.zeros((1, 9, 9)), [[0, 0, 5, 5]], labels=["a"])
    assert not values(writer)


@pytest.mark.parametrize("size", [(2.0, 1.0), (3.1, 2.3)])
def test_figure(writer, size):
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matplotlib.use("Agg")
        from matplotlib import pyplot
    figures = []
    for colour in ("red", "blue"):
        figure = pyplot.figure(figsize=size, dpi=50, facecolor=colour)
        figures.append(figure)
    with matplotlib.rc_context({"savefig.bbox": "tight"}):  # as in notebooks
        writer.add_figure("a", figures[0], close=False)
        assert pyplot.get_fignums()
        writer.add_figure("both", figures)
    assert not pyplot.get_fignums()
    one, both = (pictures.picture(v.image.encoded_image_string) for v in values(writer))
    width, height = round(size[0] * 50), round(size[1] * 50)
    assert one.shape in ((height, width, 3), (int(size[1] * 50), int(size[0] * 50), 3))
    assert (one == (255, 0, 0)).all()
    assert (both == np.concatenate([one, one[..., ::-1]], axis=1)).all()
    with pytest.raises(ValueError, match="The figures of 'a' must have one size"):
        writer.add_figure("a", [pyplot.figure(figsize=(1, 1)), pyplot.figure(figsize=(2, 2))])
    pyplot.close("all")


# ---- the others ------------------------------------------------------------------------------


@pytest.mark.oracle
@pytest.mark.parametrize("weights", [None, "some"])
def test_pr_curve_is_pytorchs(writer, weights):
    summary = pytest.importorskip("torch.utils.tensorboard.summary")
    generator = np.random.default_rng(0)
    labels, likely = generator.integers(0, 2, 100), generator.random(100)
    weights = generator.random(100) if weights else None
    expected = summary.compute_curve(labels, likely, num_thresholds=127, weights=weights)
    writer.add_pr_curve("a", labels, likely, weights=weights)
    content = only(writer).tensor.tensor_content
    assert np.frombuffer(content, "<f4").reshape(6, 127) == near(expected)


def test_predictions_that_are_no_number_are_left_out(writer):
    with pytest.warns(BoardWarning, match="1 of 3 predictions are nan"):
        writer.add_pr_curve("a", [1, 0, 1], [0.5, np.nan, 1.0], num_thresholds=3)
    rows = np.frombuffer(only(writer).tensor.tensor_content, "<f4").reshape(6, 3)
    assert rows[:2].tolist() == [[2, 2, 1], [0, 0, 0]]


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "uint8", "bool"])
def test_tensor(writer, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    writer.add_tensor("a", array.T)
    proto = only(writer).tensor
    assert [dim.size for dim in proto.tensor_shape.dim] == [3, 2]
    found = np.frombuffer(proto.tensor_content, dtype).reshape(3, 2)
    np.testing.assert_array_equal(found, array.T)


def test_tensors_of_bfloat16_and_those_that_require_grad(writer):
    pytest.importorskip("ml_dtypes", reason="tinynet.bfloat16 needs ml_dtypes")
    given = tn.tensor([[0.25, 0.5, 1.0]], dtype=tn.bfloat16, requires_grad=True)
    writer.add_scalar("scalar", given.mean())
    writer.add_histogram("values", given)
    writer.add_image("picture", given, dataformats="HW")
    writer.add_image_with_boxes("boxes", tn.zeros(3, 9, 9), tn.ones(1, 4, dtype=tn.bfloat16))
    writer.add_audio("sound", given)
    writer.add_pr_curve("curve", [1, 0, 1], given, weights=given)
    writer.add_mesh("points", given[None])
    writer.add_tensor("tensor", given)
    writer.add_embedding(given)
    found = {value.tag: value for value in values(writer)}
    assert found["scalar"].simple_value == given.mean().item()
    assert (found["values"].histo.min, found["values"].histo.sum) == (0.25, 1.75)
    shown = pictures.picture(found["picture"].image.encoded_image_string)
    assert shown.ravel().tolist() == [63, 127, 255]
    assert found["tensor"].tensor.dtype == 14  # DT_BFLOAT16
    assert found["tensor"].tensor.tensor_content == bytes.fromhex("803e003f803f")
    vectors = Path(writer.log_dir, "00000/default/tensors.tsv").read_text()
    assert vectors == "0.25\t0.5\t1.0\n"


def test_default_bins_are_the_bins_by_default(writer):
    data = np.random.default_rng(0).normal(size=100)
    writer.add_histogram("a", data)
    writer.add_histogram("b", data, bins=writer.default_bins)
    one, other = values(writer)
    assert one.histo == other.histo
    assert len(writer.default_bins) == 1549  # as in PyTorch


def test_too_loud_a_sound_is_clipped_with_one_warning(writer):
    with pytest.warns(BoardWarning, match="some amplitudes are not within -1 and 1") as caught:
        writer.add_audio("a", [[2.0, -2.0, np.nan, 0.5]])
        writer.add_audio("a", [3.0])
    assert len(caught) == 1
    encoded = values(writer)[0].tensor.string_val[0]
    assert np.frombuffer(encoded[-8:], "<i2").tolist() == [32767, -32767, 0, 16383]


def test_embeddings_of_a_resumed_run_stay(folder):
    for step in (0, 1, 1):
        with SummaryWriter(folder) as writer:
            writer.add_embedding([[1.0, 2.0]], ['a\tb "c"\n'], global_step=step, tag='x"/\\%ü')
    config = (folder / "projector_config.pbtxt").read_text(encoding="utf-8")
    assert config.count("embeddings {") == 2
    assert config.count("tensor_name") == 2
    for step in ("00000", "00001"):
        inside = folder / step / 'x"%2f%5c%25ü'
        assert (inside / "tensors.tsv").read_text() == "1.0\t2.0\n"
        assert (inside / "metadata.tsv").read_text() == 'a b "c" \n'


def test_a_configuration_of_somebody_else_stays(folder, writer):
    text = 'embeddings {\n  tensor_name: "t:1"\n  tensor_path: "t.tsv"\n}\n'
    (folder / "projector_config.pbtxt").write_text(text)
    writer.add_embedding(tn.eye(2))
    assert (folder / "projector_config.pbtxt").read_text().startswith(text)


def test_hparams_go_into_a_run_of_their_own(folder, writer):
    writer.add_hparams({"lr": tn.tensor(0.5), "name": "x"}, {"loss": 1}, run_name="trial")
    writer.flush()
    found = [v for event in reader.events(folder / "trial") for v in event.summary.value]
    tags = [f"_hparams_/{t}" for t in ("experiment", "session_start_info", "session_end_info")]
    assert [value.tag for value in found] == [*tags, "loss"]
    assert values(writer) == []


def test_hparams_have_the_step(folder, writer):
    writer.add_hparams({"lr": 0.5}, {"loss": 1}, run_name="trial", global_step=3)
    writer.flush()
    assert {event.step for event in reader.events(folder / "trial")} == {3}


def test_hparams_go_into_the_run_of_the_curves(folder, writer):
    messages = hparams({"lr": 0.5}, {"loss": "unused"})
    for message in messages:
        writer.file_writer.add_summary(message)
    writer.add_hparams({"lr": 0.5}, {"loss": 1}, run_name="trial")
    tags = [value.tag for value in values(writer)]
    written = [v.tag for event in reader.events(folder / "trial") for v in event.summary.value]
    assert [*tags, "loss"] == written
    with pytest.raises(TypeError, match="parameter: metric_dict should be a dictionary, nothing"):
        hparams({"lr": 0.5})


REFUSED = {
    "add_histogram": [
        (("a", "text"), TypeError, "must be a tensor or an array of real numbers. Got str of <U4"),
        (("a", [1j]), TypeError, "Got list of complex128"),
        (("a", [[1], [1, 2]]), NotImplementedError, "Got <class 'list'>, but numpy array or"),
        ((1, [1.0]), TypeError, "The tag of add_histogram must be a str. Got int instead"),
    ],
    "add_image": [
        (("a", np.zeros((3, 4))), AssertionError, "size of input tensor and input format are di"),
        (("a", np.zeros((5, 4, 4))), ValueError, "Got [5, 4, 4] instead"),
        (("a", np.zeros((3, 0, 4))), ValueError, "Got [3, 0, 4] instead"),
        (("a", np.zeros((3, 4, 4)), 0, None, "CHX"), ValueError, "one of HW, CHW, NCHW. Got 'CHX'"),
        (
            ("a", np.zeros((3, 4, 4)), 0, None, "CHH"),
            AssertionError,
            "You can not use the same dim",
        ),
    ],
    "add_image_with_boxes": [
        (("a", np.zeros((3, 4, 4)), [1, 2, 3, 4]), ValueError, "must have the shape [N, 4]"),
        (("a", np.zeros((3, 4, 4)), [[1] * 4], 0, None, 0), ValueError, "'rescale' parameter"),
        (
            ("a", np.zeros((3, 4, 4)), [[1] * 4], 0, None, 1, "CHW", ["cat", "dog"]),
            ValueError,
            "must have one text for each of the 1 boxes. Got 2 instead.",
        ),
        (
            ("a", np.zeros((3, 4, 4)), [[1] * 4], 0, None, 1, "CHW", [7]),
            TypeError,
            "must be a list of str. Got list instead.",
        ),
    ],
    "add_figure": [(("a", "plot"), TypeError, "must be a figure of matplotlib. Got str instead")],
    "add_video": [
        (("a", np.zeros((2, 3, 4, 4))), ValueError, "must have the shape [N, T, C, H, W]"),
        (("a", np.zeros((1, 1, 3, 2, 2)), 0, 0), ValueError, "'fps' parameter of add_video"),
    ],
    "add_audio": [
        (("a", np.zeros((2, 9))), AssertionError, "input tensor should be 1 dimensional.")
    ],
    "add_text": [(("a", None), TypeError, "Got None instead")],
    "add_tensor": [(("a", np.uint64(1)), TypeError, "have no type for tensors of uint64")],
    "add_hparams": [
        (([], {}), TypeError, "hparam_dict and metric_dict should be dictionary."),
        (({}, None), TypeError, "hparam_dict and metric_dict should be dictionary."),
        (
            ({"a": [1]}, {}),
            ValueError,
            "value should be one of int, float, str, bool, or tinynet.Tensor",
        ),
        (
            ({"a": 1}, {}, {"a": ["x"]}),
            TypeError,
            "parameter: hparam_domain_discrete[a] should be a list of same type as hparam_dict[a].",
        ),
        (({"a": 1}, {"loss": "low"}), ValueError, "could not convert string to float: 'low'"),
    ],
    "add_pr_curve": [
        (("a", [1, 0], [0.5]), ValueError, "as many labels as predictions"),
        (("a", [1], [1.5]), ValueError, "The 'predictions' parameter of add_pr_curve must be"),
        (("a", [2], [0.5]), ValueError, "The 'labels' parameter of add_pr_curve must be within"),
        (("a", [1], [0.5], 0, 1), ValueError, "The 'num_thresholds' parameter of add_pr_curve"),
    ],
    "add_pr_curve_raw": [
        (("a", [1], [1], [1], [1], [1], [1, 2]), ValueError, "must have one size. Got [1, 1, 1,"),
    ],
    "add_embedding": [
        (([1.0],), AssertionError, "mat should be 2D, where mat.size(0) is the number of data"),
        (([[1.0]], ["a", "b"]), AssertionError, "#labels should equal with #data points"),
        (([[1.0]], None, np.zeros((2, 3, 4, 4))), AssertionError, "#images should equal with"),
        (
            ([[1.0]], [[1, 2]], None, None, "a", ["x"]),
            AssertionError,
            "len of header must be equal to the number of columns in metadata",
        ),
        (([[1.0]] * 2, None, np.zeros((2, 1, 5000, 1))), ValueError, "must fit into 8192 pixels"),
    ],
    "add_mesh": [
        (("a", np.zeros((3, 3))), ValueError, "Tensor shape should be of shape BxNx3, but got")
    ],
    "add_custom_scalars": [
        (({"a": {"b": ["Pie", []]}},), ValueError, "must be 'Multiline' or 'Margin'. Got 'Pie'"),
        (({"a": {"b": ["Margin", ["x"]]}},), AssertionError, "len(tags) != 3"),
    ],
    "add_custom_scalars_marginchart": [((["a", "b"],), AssertionError, "Expected 3 tags, got 2.")],
    "add_onnx_graph": [(("file",), NotImplementedError, "needs the package onnx")],
}


@pytest.mark.parametrize(
    ("method", "arguments", "error", "message"),
    [(method, *case) for method, cases in REFUSED.items() for case in cases],
)
def test_refused_before_anything_is_written(folder, writer, method, arguments, error, message):
    writer.flush()
    before = sorted(folder.rglob("*"))
    with pytest.raises(error) as caught:
        getattr(writer, method)(*arguments)
    assert message in str(caught.value)
    assert values(writer) == []
    assert sorted(folder.rglob("*")) == before


REFUSED_BY_BOTH = {
    "add_scalar": [
        ("a", None),
        ("a", [1.0]),
        ("a", "x"),
        ("a", 1j),
        ("a", 10**400),
        ("a", np.ones(2)),
    ],
    "add_scalars": [("a", {"b": np.ones(2)}), ("a", {"b": None})],
    "add_histogram": [("a", None), ("a", np.ones(0))],
    "add_histogram_raw": [("a", 0, 1, 1, 1, 1, [1, 2], [1])],
    "add_image": [("a", np.ones((4, 5))), ("a", np.ones((3, 4, 5)), 0, None, "CCH"), ("a", None)],
    "add_images": [("a", np.ones((3, 4, 5)))],
    "add_audio": [("a", np.ones((2, 9))), ("a", None)],
    "add_embedding": [
        (np.ones(3),),
        (np.ones((3, 2)), ["a"]),
        (np.ones((3, 2)), None, np.ones((2, 3, 4, 4))),
        (np.ones((3, 2)), [["a"]] * 3, None, 0, "default", ["b", "c"]),
    ],
    "add_hparams": [
        ([1], {}),
        ({}, 1),
        ({}, {}, 5),
        ({"a": 1.0}, {}, {"a": ["x"]}),
        ({"a": 1.0}, {"loss": "low"}),
    ],
    "add_custom_scalars": [({"a": {"b": ["Margin", ["x"]]}},)],
    "add_custom_scalars_marginchart": [(["a", "b"],)],
}


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("method", "arguments"),
    [(method, one) for method, several in REFUSED_BY_BOTH.items() for one in several],
)
def test_errors_are_pytorchs(writer, tmp_path, method, arguments):
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    with pytest.raises(Exception) as ours:
        getattr(writer, method)(*arguments)
    with tensorboard.SummaryWriter(tmp_path / "theirs") as other:
        with pytest.raises(Exception) as theirs:
            getattr(other, method)(*arguments)
    assert type(ours.value) is type(theirs.value)
    sentence = str(theirs.value).partition(". ")[0].replace("torch tensor", "tinynet tensor")
    assert str(ours.value).startswith(sentence)


# ---- protobuf --------------------------------------------------------------------------------


def test_messages_of_protobuf_in_pure_python(tmp_path):
    """The implementation of protobuf that is there where the fast one is not."""
    code = """
import sys
import numpy as np
from tests.unit.board.every_method import write
write(sys.argv[1])
from google.protobuf.internal import api_implementation
assert api_implementation.Type() == "python"
assert not {"tensorboard", "torch", "matplotlib", "PIL"} & sys.modules.keys()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=ROOT,
        env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
    )
    assert done.returncode == 0, done.stderr
    tags = {value.tag for event in reader.events(tmp_path) for value in event.summary.value}
    assert {"train/loss", "photo", "weights", "dog", "cube_VERTEX", "sound"} <= tags
