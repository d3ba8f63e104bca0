"""The real TensorBoard shows what every method of the writer wrote: read back through its API."""

import io
import json
import urllib.parse
import urllib.request
import wave

import numpy as np
import pytest

from tests.tools.patience import PATIENCE
from tests.unit.board import pictures
from tests.unit.board.every_method import (
    BATCH,
    CORNERS,
    FILM,
    ICONS,
    LABELS,
    LIKELY,
    PHOTO,
    POINTS,
    SOUND,
    VALUES,
    write,
)

pytest.importorskip("tensorboard", reason="needs TensorBoard: pip install tensorboard")

from tests.tools.rounding import bound, near
from tests.unit.board.test_tensorboard import server


class Api:
    """TensorBoard's HTTP interface."""

    def __init__(self, address):
        self.address = address
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def raw(self, path, **query):
        """The bytes of an answer; `post` is sent as JSON."""
        post = query.pop("post", None)
        url = f"{self.address}data/plugin/{path}?{urllib.parse.urlencode(query)}"
        data = None if post is None else json.dumps(post).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        with self.opener.open(request, timeout=PATIENCE) as answer:
            return answer.read()

    def __call__(self, path, **query):
        return json.loads(self.raw(path, **query))


@pytest.fixture(scope="module", params=["slow", "fast"])
def api(request, tmp_path_factory):
    """TensorBoard with each of its two loaders; the fast one is what most people run."""
    if request.param == "fast":
        pytest.importorskip("tensorboard_data_server", reason="needs TensorBoard's fast loader")
    folder = tmp_path_factory.mktemp("runs")
    write(folder / "run")
    with server(folder, fast=request.param == "fast") as address:
        yield Api(address)


def test_scalars(api):
    found = api("scalars/scalars", run="run", tag="train/loss")
    assert found == [[1e9, 0, 0.0], [1e9 + 1, 1, 0.5], [1e9 + 2, 2, 1.0]]
    for name, sign in (("a", 1), ("b", -1)):
        found = api("scalars/scalars", run=f"run/both_{name}", tag="both")
        assert [(step, value) for _, step, value in found] == [(i, sign * i) for i in range(3)]


def test_text(api):
    (found,) = api("text/text", run="run", tag="notes/text_summary")
    assert found["step"] == 4
    assert "<td><h1>Größe</h1></td>" in found["text"]


def histogram(api, tag):
    ((_, step, buckets),) = api("histograms/histograms", run="run", tag=tag)
    return step, np.array(buckets)


def test_histogram(api):
    step, buckets = histogram(api, "weights")
    assert step == 2
    assert buckets[:, 2].sum() == len(VALUES)
    assert (buckets[:-1, 1] == buckets[1:, 0]).all()
    inside = np.clip(VALUES, -9.9e19, None)  # the outermost buckets also hold what is beyond
    for edge, below in zip(buckets[:, 1], np.cumsum(buckets[:, 2]), strict=True):
        slack = abs(edge) * bound(np.float32, 1)  # TensorBoard rounds the edges to float32
        assert (edge - slack > inside).sum() <= below <= (edge + slack >= inside).sum()
    assert len(buckets) > 500


def test_histograms_with_other_bins(api):
    _, buckets = histogram(api, "even")
    counts, edges = np.histogram(VALUES[:1000], bins=10)
    np.testing.assert_array_equal(buckets[-10:, 2], counts)
    assert buckets[-10:, 1] == near(edges[1:])
    _, buckets = histogram(api, "raw")
    assert buckets.tolist() == [[0.0, 1.0, 1.0], [1.0, 2.0, 2.0]]


def image(api, tag):
    (entry,) = api("images/images", run="run", tag=tag, sample=0)
    data = api.raw(f"images/individualImage?{entry['query']}&x")
    return entry, data


def test_images(api):
    entry, data = image(api, "photo")
    assert entry["step"] == 3
    np.testing.assert_array_equal(pictures.picture(data), PHOTO.transpose(1, 2, 0))
    _, data = image(api, "batch")
    side_by_side = np.concatenate((BATCH * 255).astype(np.uint8), axis=2)
    np.testing.assert_array_equal(pictures.picture(data), side_by_side.transpose(1, 2, 0))


def test_image_with_boxes(api):
    shown = pictures.picture(image(api, "boxes")[1])
    expected = PHOTO.transpose(1, 2, 0).copy()
    expected[3:13, 2:11] = (255, 0, 0)
    expected[5:11, 4:9] = PHOTO.transpose(1, 2, 0)[5:11, 4:9]
    np.testing.assert_array_equal(shown, expected)


def test_video(api):
    _, data = image(api, "film")
    moving = (FILM * 255).astype(np.uint8)
    for number, frame in enumerate(pictures.frames(data)):
        side_by_side = np.concatenate(moving[:, number], axis=2).transpose(1, 2, 0)
        np.testing.assert_array_equal(frame, side_by_side)
    assert number == 2


def test_audio(api):
    (entry,) = api("audio/audio", run="run", tag="sound", sample=0)
    assert (entry["step"], entry["contentType"]) == (1, "audio/wav")
    data = api.raw(f"audio/individualAudio?{entry['query']}&x")
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (8000, 1, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    np.testing.assert_allclose(samples / 32767, SOUND, atol=1 / 32767)


def test_pr_curves(api):
    (entry,) = api("pr_curves/pr_curves", run="run", tag="dog")["run"]
    assert entry["step"] == 5
    last = entry["thresholds"][-1]  # TensorBoard leaves out those that nothing reaches
    assert len(entry["thresholds"]) == 1 + round(200 * last) == 1 + int(LIKELY.max() * 200)
    for place, threshold in enumerate(entry["thresholds"]):
        chosen = np.floor(LIKELY * 200) >= round(threshold * 200)
        assert entry["true_positives"][place] == (chosen & (LABELS == 1)).sum()
        assert entry["false_positives"][place] == (chosen & (LABELS == 0)).sum()
        assert entry["true_negatives"][place] == (~chosen & (LABELS == 0)).sum()
        assert entry["false_negatives"][place] == (~chosen & (LABELS == 1)).sum()
        if chosen.any():
            assert entry["precision"][place] == near(LABELS[chosen].mean())
    (entry,) = api("pr_curves/pr_curves", run="run", tag="counted")["run"]
    assert (entry["true_positives"], entry["thresholds"]) == ([3, 1], [0, 1])
    assert entry["recall"] == near([1, 0.3])


def test_hparams(api):
    experiment = api("hparams/experiment", post={"experimentName": ""})
    kinds = {info["name"]: info["type"] for info in experiment["hparamInfos"]}
    assert kinds == {
        "lr": "DATA_TYPE_FLOAT64",
        "layers": "DATA_TYPE_FLOAT64",
        "norm": "DATA_TYPE_BOOL",
        "optimizer": "DATA_TYPE_STRING",
    }
    domains = {info["name"]: info.get("domainDiscrete") for info in experiment["hparamInfos"]}
    assert domains["optimizer"] == ["SGD", "Adam"]
    metrics = [{"metric": info["name"]} for info in experiment["metricInfos"]]
    assert {metric["metric"]["tag"] for metric in metrics} == {"final/accuracy", "final/loss"}
    asked = {"experimentName": "", "startIndex": 0, "sliceSize": 10, "colParams": metrics}
    asked["allowedStatuses"] = ["STATUS_SUCCESS"]
    groups = api("hparams/session_groups", post=asked)["sessionGroups"]
    found = {}
    for group in groups:
        assert group["hparams"] | {"lr": 0} == {
            "lr": 0,
            "layers": 2,
            "norm": True,
            "optimizer": "SGD",
        }
        values = {value["name"]["tag"]: value for value in group["metricValues"]}
        assert {value["trainingStep"] for value in values.values()} == {9}
        found[group["hparams"]["lr"]] = [
            values[tag]["value"] for tag in ("final/accuracy", "final/loss")
        ]
    assert found.keys() == {0.1, 0.01}
    for lr, values in found.items():
        assert values == near([1 - lr, lr])


def test_embeddings(api):
    assert api("projector/runs") == ["run"]
    first, second = api("projector/info", run="run")["embeddings"]
    assert (first["tensorName"], second["tensorName"]) == ("a/b:00000", "default:00012")
    assert first["tensorShape"] == [7, 4]
    assert first["sprite"]["singleImageDim"] == [5, 5]
    for entry, points in ((first, POINTS), (second, POINTS * 2)):
        data = api.raw("projector/tensor", run="run", name=entry["tensorName"])
        np.testing.assert_array_equal(np.frombuffer(data, np.float32).reshape(7, 4), points)
    names = api.raw("projector/metadata", run="run", name="a/b:00000").decode()
    assert names.split() == [f"p{i}" for i in range(7)]
    table = api.raw("projector/metadata", run="run", name="default:00012").decode()
    assert table.splitlines()[:2] == ["n\teven", "0\tTrue"]
    sprite = pictures.picture(api.raw("projector/sprite_image", run="run", name="a/b:00000"))
    assert sprite.shape == (15, 15, 3)
    for number, icon in enumerate((ICONS * 255).astype(np.uint8)):
        y, x = 5 * (number // 3), 5 * (number % 3)
        np.testing.assert_array_equal(sprite[y : y + 5, x : x + 5], icon.transpose(1, 2, 0))


def test_mesh(api):
    tags = api("mesh/tags")["run"]["cube"]
    assert tags["samples"] == 1
    entries = api("mesh/meshes", run="run", tag="cube", sample=0)
    entries.sort(key=lambda entry: entry["content_type"])
    assert [entry["content_type"] for entry in entries] == [1, 2]
    assert {entry["components"] for entry in entries} == {0b110}
    assert json.loads(entries[0]["config"]) == {"camera": {"fov": 5}}
    data = api.raw("mesh/data", run="run", tag="cube", content_type="VERTEX", sample=0, step=0)
    np.testing.assert_array_equal(np.frombuffer(data, np.float32).reshape(1, 8, 3), CORNERS)


def test_custom_scalars(api):
    (category,) = api("custom_scalars/layout")["category"]
    assert category["title"] == "losses"
    lines, band = category["chart"]
    assert (lines["title"], lines["multiline"]["tag"]) == ("all", ["train/.*"])
    assert band["margin"]["series"] == [{"value": "a", "lower": "b", "upper": "c"}]
