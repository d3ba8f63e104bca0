"""The report of a run: its sections, what hostile names do to it, what it never does to a run."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import ANY
from urllib.parse import unquote

import pytest

from tinynet.base.invocation import installation
from tinynet.train import resume, run
from tinynet.train.cli import main
from tinynet.train.observe.progress import duration_text
from tinynet.train.run import training as trainings

pytestmark = pytest.mark.usefixtures("reports")

CONFIGS = Path(__file__).parents[3] / "configs"
ALWAYS = [
    *("Overview", "Curves", "Weights and gradients", "Graph", "Time and memory", "Config"),
    *("Environment", "Warnings"),
]
CLASSES = ["Confusion matrix", "Examples"]
VOID = {"img", "meta"}


class Page(HTMLParser):
    """The elements of a page, and its text by section."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.open, self.titles = [], {}, [], []
        self.feed(text)
        assert not self.open, "elements that are not closed"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}>"

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)
        elif self.titles:
            if "footer" in self.open:
                return
            self.texts[self.titles[-1]] = self.texts.get(self.titles[-1], "") + data + " "


def report_of(result):
    return (result.folder / "report.html").read_text(encoding="utf-8")


def sections(text):
    """The sections of a page by title, without the times and paths that no two runs share."""
    found = re.findall(r"<h2>([^<]*)</h2>(.*?)</section>", text, re.DOTALL)
    own = r"Started [\d :-]*|<b>[^<]*</b><span>(duration|processor time|peak memory)</span>"
    return {title: re.sub(own, "", content) for title, content in found}


SHORT = {
    "digits_mlp": ({}, CLASSES),
    "digits_cnn": ({}, CLASSES),
    "spiral": ({}, [*CLASSES, "Exhibits"]),
    "digits_vae": ({}, ["Examples", "Exhibits"]),
    "digits_gan": ({}, ["Exhibits"]),
    "text_lstm": (
        {"data.limit": 4000, "model.width": 8, "model.hidden": 16},
        [*CLASSES, "Exhibits"],
    ),
    "words_skipgram": ({"data.limit": 60_000}, ["Examples", "Exhibits"]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SHORT)
def test_the_sections_of_a_config(name, tmp_path):
    changes, own = SHORT[name]
    result = run(CONFIGS / f"{name}.toml", {"run.epochs": 2, **changes}, out=tmp_path, quiet=True)
    text = report_of(result)
    page = Page(text)
    assert {*page.titles} == {*ALWAYS, *own}
    assert all(page.texts[title].strip() for title in page.titles if title != "Exhibits")
    assert not any("cannot be shown" in content for content in page.texts.values())
    assert page.texts["Warnings"].strip() == "None."
    for tag, attributes in page.elements:  # nothing from elsewhere
        assert tag not in ("script", "link", "iframe", "object")
        for key in ("src", "href", "xlink:href", "action"):
            assert attributes.get(key, "#").startswith(("#", "data:image/"))
    assert not re.search(r"url\((?!#)|@import", text)


def test_the_same_run_gives_the_same_bytes(write, digits):
    result = run(write(digits), quiet=True)
    before = report_of(result)
    command = [sys.executable, "-m", "tinynet", "report", str(result.folder)]
    orders = {"PYTHONHASHSEED": "1", "PYTHONPATH": ROOT}  # sets have another order than here
    subprocess.run(command, check=True, env=orders)
    assert report_of(result) == before


ROOT = str(Path(__file__).parents[3])


def test_a_killed_and_resumed_run_has_the_same_report(write, digits, dies):
    config = write(digits.replace("epochs = 2", "epochs = 3"))
    whole = run(config, quiet=True)
    restore = dies(30)
    with pytest.raises(BaseException, match="^$"):
        run(config, quiet=True, out="killed")
    restore()
    (folder,) = Path("killed/digits").iterdir()
    resumed = resume(folder, quiet=True)
    ours, theirs = sections(report_of(whole)), sections(report_of(resumed))
    assert [*ours] == [*theirs]
    differ = {title for title in ours if ours[title] != theirs[title]}
    assert differ <= {"Time and memory", "Config", "Environment"}


HOSTILE = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"$x^2$</b>\x00\u202e"


def test_hostile_names_are_text(write, digits):
    data = """
        from tinynet.data import Digits

        class Named(Digits):
            classes = [HOSTILE + str(i) for i in range(10)]
    """.replace("HOSTILE", ascii(HOSTILE))
    net = """
        from tinynet import nn

        class Net(nn.Sequential):
            def __init__(self, note):
                super().__init__()
                self.add_module("flat", nn.Flatten())
                self.add_module(note.replace(".", ""), nn.Linear(64, 10))
    """
    config = digits.replace('type = "Digits"', 'type = "./named.py:Named"').replace(
        'type = "mlp"\nsizes = [64, 16, 10]',
        f'type = "./net.py:Net"\nnote = {json.dumps(HOSTILE)}',
    )
    text = report_of(run(write(config, named=data, net=net), quiet=True))
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.elements}
    assert not any(key.startswith("on") for _, own in page.elements for key in own)
    assert "<script>alert(1)</script>" in page.texts["Confusion matrix"]
    assert "<script>alert(1)</script>" in page.texts["Config"]
    assert "<script>alert(1)</script>" in page.texts["Weights and gradients"]
    assert "\x00" not in text and "\u202e" not in text


def test_warnings_of_a_run_are_in_its_report(write, digits):
    net = """
        import warnings
        from tinynet import nn

        class Net(nn.Sequential):
            def __init__(self):
                super().__init__(nn.Flatten(), nn.Linear(64, 10))

            def forward(self, images):
                if self.training:
                    warnings.warn("the images are <small>", stacklevel=2)
                return super().forward(images)
    """
    config = digits.replace('"mlp"\nsizes = [64, 16, 10]', '"./net.py:Net"')
    with pytest.warns(UserWarning, match="the images are <small>"):
        result = run(write(config, net=net), quiet=True)
    page = Page(report_of(result))
    assert page.texts["Warnings"].split("\n")[0].strip() == "UserWarning: the images are <small>"


def test_rows_of_a_table_are_shown_as_values(write):
    rows = [f"{x},{x % 7},{3 * x}" for x in range(60)]
    Path("houses.csv").write_text("\n".join(["size,<b>rooms</b>,price", *rows]))
    config = """
        run.epochs = 1
        data = {type = "CSV", path = "houses.csv", target = "price", standardize = false}
        model = {type = "mlp", sizes = [2, 1]}
        loss = {type = "MSELoss"}
        optimizer = {type = "SGD", lr = 1e-9}
    """
    text = report_of(run(write(config), quiet=True))
    worst, typical = re.findall(r"<tbody>(.*?)</tbody>", sections(text)["Examples"])
    header = re.search(r"<thead>.*?</thead>", sections(text)["Examples"])[0]
    names = re.findall(r">([^<>]+)</th>", header)
    assert names[3:] == ["loss", "size", "&lt;b&gt;rooms&lt;/b&gt;"]
    for row in re.findall(r"<tr>(.*?)</tr>", worst + typical):
        _, _, right, _, size, rooms = re.findall(r">([^<>]+)</(?:td|span)>", row)
        assert (float(right), float(rooms)) == (3 * float(size), float(size) % 7)


@pytest.mark.parametrize("standardize", [True, False])
def test_predictions_of_numbers(write, standardize):
    """Inputs are those of the file, numbers short, and a fit worse than the mean is marked."""
    cities = ["Bern", "Ulm"]
    rows = [f"0{30 + x}.50,{cities[x % 2]},{12300.123413 + 1700 * x}" for x in range(90)]
    Path("houses.csv").write_text("\n".join(["area,city,price", *rows]))
    config = """
        run.epochs = 40
        data = {type = "CSV", path = "houses.csv", target = "price", batch_size = 8}
        model = {type = "mlp", sizes = [3, 8, 1]}
        loss = {type = "MSELoss"}
        optimizer = {type = "Adam", lr = 0.01}
    """
    own = {"data.standardize": standardize, "run.hints": False}
    text = report_of(run(write(config), own, quiet=True))
    page = Page(text)
    score = float(re.match(r"(-?[\d.]+) R² [\d,.]+ mean abs", words_of(page, "Predictions"))[1])
    assert (score > 0.9) is standardize
    assert ("R² is below 0" in page.texts["Predictions"]) is not standardize
    assert re.findall(r"<b>(price: [^<]+)</b>", text) == [
        "price: predicted and actual",
        "price: residuals",
    ]
    assert re.search(r"<title>actual [\d,]+: predicted -?[\d,.]+</title>", text)
    for cells in rows_of(text, "Examples"):
        found = re.findall(r">([^<>]+)</t[dh]>", cells)
        if found[0] == "example":
            assert found == ["example", "predicted", "actual", "loss", "area", "city"]
            continue
        assert re.fullmatch(r"0\d+\.50", found[4]) and found[5] in cities
        assert re.fullmatch(r"\d\d\d?,\d00", found[2])
        assert f"{float(found[2].replace(',', '')):,.0f}" == found[2]


# ---- a run never fails because of its report ----


def test_without_matplotlib_a_line_says_what_to_install(write, digits, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(write(digits))
    assert not (result.folder / "report.html").exists()
    out = capsys.readouterr().out
    assert out.count(f"\nthe report needs matplotlib: {installation('report')}\n") == 1
    assert main(["report", str(result.folder)]) == 2
    assert installation("report") in capsys.readouterr().err


def test_a_report_that_cannot_be_written_costs_a_line(write, digits, capsys):
    result = run(write(digits), {"run.report": False}, quiet=True)
    assert not (result.folder / "report.html").exists()
    (result.folder / "report.html").mkdir()  # in its place
    again = resume(result.folder, {"run.epochs": 3, "run.report": True})
    assert again.is_complete
    assert "\nreport.html is not written. TrainError: " in capsys.readouterr().out


def words_of(page, title="Overview"):
    return " ".join(page.texts[title].split())


def test_a_stopped_run_has_a_report(write, digits, monkeypatch, capsys):
    """After the first Ctrl-C; the second one asks for the end at once."""
    steps = iter(range(1000))

    class Stop:
        signal = None

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    stop = Stop()

    def count(self, step, usual=trainings.Training.count_step):
        if next(steps) == 30:
            stop.signal = signal.SIGINT
        usual(self, step)

    monkeypatch.setattr(trainings.Training, "count_step", count)
    monkeypatch.setattr(trainings, "StopRequest", lambda: stop)
    result = run(write(digits))
    assert not result.is_complete
    page = Page(report_of(result))
    assert page.texts["Overview"].startswith("stopped by Ctrl-C or SIGTERM")
    assert "Examples" in page.titles
    assert f"\nreport: {result.folder / 'report.html'}\n" in capsys.readouterr().out


def test_the_cost_of_a_run_and_its_command(write, digits):
    first = run(write(digits), {"run.epochs": 1}, quiet=True)
    page = Page(report_of(first))
    before = json.loads((first.folder / "run.json").read_text())["spent"]
    seconds, cpu = (duration_text(before[name]) for name in ("seconds", "cpu_seconds"))
    pattern = rf"{seconds} +duration +{cpu} +processor time +([\d.]+) ([MG])B"
    peak = re.search(pattern, words_of(page))
    assert float(peak[1]) * {"M": 1, "G": 1000}[peak[2]] > 20
    resume(first.folder, {"run.epochs": 2}, quiet=True)
    after = json.loads((first.folder / "run.json").read_text())["spent"]
    assert all(after[name] >= before[name] for name in ("seconds", "cpu_seconds", "peak_bytes"))
    assert after["seconds"] > before["seconds"]


def test_the_command_is_shown_as_it_was_typed(write, digits):
    command = [sys.executable, "-m", "tinynet", "train", write(digits), "--set", "epochs=1"]
    own = {"PYTHONPATH": ROOT, "TINYNET_COMMAND": "python3 run.py"}
    subprocess.run(command, check=True, env={**os.environ, **own}, capture_output=True)
    (path,) = Path("runs/digits").glob("*/report.html")
    page = Page(path.read_text())
    assert "python3 run.py train digits.toml --set epochs=1" in page.texts["Environment"]


def test_a_failed_run_has_a_report(write, digits):
    with pytest.raises(Exception, match="the loss is nan"):
        run(write(digits.replace("lr = 0.1", "lr = 1e30")), quiet=True)
    (path,) = Path("runs/digits").glob("*/report.html")
    page = Page(path.read_text())
    assert page.texts["Overview"].startswith("failed: the loss is nan")
    assert "hint     the numbers had already become huge" in page.texts["Overview"]
    assert "the loss is nan" in page.texts["Warnings"]


# ---- several runs ----


def rows_of(text, title):
    return re.findall(r"<tr>(.*?)</tr>", sections(text)[title])


def test_several_runs_are_compared(write, digits, capsys):
    path = write(digits)
    assert main(["sweep", path, "optimizer.lr=1e-9,0.1", "seed=0..1", "epochs=1"]) == 0
    out = capsys.readouterr().out
    (folder,) = Path("runs/digits").iterdir()
    assert f"\nreport: {folder}/report.html\n" in out
    text = (folder / "report.html").read_text()
    page = Page(text)
    seeds = ["Over the seeds"]
    last = ["Curves", "Parallel coordinates", "Warnings"]
    assert page.titles == ["Best run", *seeds, "Runs", *last]
    assert (
        "lr=0.1" in page.texts["Best run"]
        and "4 runs, by validation accuracy" in page.texts["Best run"]
    )
    rows = rows_of(text, "Runs")
    assert re.findall(r">([^<>]+)</th>", rows[0])[:4] == [
        *("seed", "lr", "validation accuracy", "validation loss")
    ]
    assert [">0.1<" in row for row in rows[1:]] == [True, True, False, False]  # the best first
    links = [own["href"] for tag, own in page.elements if tag == "a" and own["href"][0] != "#"]
    assert len(links) == 5 and all((folder / unquote(link)).is_file() for link in links)
    means = [re.findall(r">([^<>]+)</", row) for row in rows_of(text, "Over the seeds")]
    assert [row[:2] + row[-1:] for row in means] == [
        ["lr", "validation accuracy", "runs"],
        *[[ANY] * 3] * 2,
    ]
    assert [(row[0], row[-1]) for row in means[1:]] == [("0.1", "2"), ("1e-09", "2")]
    assert all(re.fullmatch(r"[\d.]+ % ± [\d.]+ %", row[1]) for row in means[1:])
    curves = sections(text)["Curves"]
    assert re.findall(r'class="key (\w+)"[^>]*>([^<]+)<', curves) == [
        *[("solid", f"lr={lr}") for lr in ("0.1", "1e-09")],
        *[("dashed", "training"), ("solid", "validation")],
    ]
    assert re.search(r"<title>lr=0.1, validation, epoch 1: [\d.]+ % ± [\d.]+ %</title>", curves)
    again = [str(path.parent) for path in sorted(folder.glob("*/*/run.json"))]
    assert main(["report", *again, "--save", str(folder / "again.html")]) == 0
    assert sections((folder / "again.html").read_text()) == sections(text)


RIGHT = """
    def right(outputs, targets):
        share = (outputs.argmax(1) == targets).float().mean().item()
        return share if share > 0.2 else float("nan")

    right.higher_is_better = True
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("monitor", ["", "right", "loss"])
def test_runs_are_compared_by_what_is_monitored(write, digits, capsys, monitor):
    """By the direction of the user's metric; NaN, which is first in the list, is the last."""
    own = f'[evaluation]\nmetrics = ["./m.py:right", "accuracy"]\nmonitor = "{monitor}"\n'
    path = write(digits + own, m=RIGHT)
    assert main(["sweep", path, "optimizer.lr=0.0001,0.02,0.1", "epochs=1"]) == 0
    table = capsys.readouterr().out.split("\n\n")[1].splitlines()
    rates = [line.split()[0] for line in table]
    (folder,) = Path("runs/digits").iterdir()
    text = (folder / "report.html").read_text()
    assert f"3 runs, by validation {monitor or 'right'}" in Page(text).texts["Best run"]
    listed = re.findall(r"<tr>(.*?)</tr>", sections(text)["Runs"])
    found = [re.search(r">(0.0001|0.02|0.1|lr)<", row)[1] for row in listed]
    assert rates == found == ["lr", "0.1", "0.02", "0.0001"]


def test_a_sweep_without_reports(write, digits, capsys):
    arguments = ["sweep", write(digits), "seed=0..1", "epochs=1", "report=false"]
    assert main(arguments) == 0
    assert "report: " not in capsys.readouterr().out
    assert not [*Path("runs").rglob("report.html")]


def test_runs_of_different_configs_are_compared(write, digits, capsys):
    first = run(write(digits), {"run.epochs": 1}, quiet=True).folder
    names = digits.replace("mlp", "sequential").replace(
        "sizes = [64, 16, 10]",
        'layers = [{type = "Flatten"}, {type = "Linear", in_features = 64, out_features = 10}]',
    )
    second = run(write(names), {"evaluation.metrics": ["top3"], "run.epochs": 2}, quiet=True).folder
    with pytest.raises(Exception, match="the loss is nan"):
        run(write(digits), {"optimizer.lr": 1e30, "run.out": "failed"}, quiet=True)
    (third,) = Path("failed/digits").iterdir()
    failed = Path("runs/digits/third")
    shutil.copytree(third, failed)
    assert main(["report", str(first), str(second), str(failed)]) == 0
    assert capsys.readouterr().out == "report: runs/digits/report.html\n"
    page = Page(Path("runs/digits/report.html").read_text())
    assert not any("cannot be shown" in content for content in page.texts.values())
    assert '"sequential"' in page.texts["Runs"] and "top3" in page.texts["Runs"]
    assert "failed: the loss is nan in epoch 1" in page.texts["Runs"]


def test_a_folder_without_runs_is_refused(write, digits, capsys):
    folder = run(write(digits), {"run.epochs": 1}, quiet=True).folder
    Path("empty").mkdir()
    assert main(["report", str(folder), "empty"]) == 2
    assert "empty is not the folder of a run: it has no run.json" in capsys.readouterr().err


# ---- the command ----


def test_of_a_run_whose_data_are_gone(write, digits, capsys):
    data = "from tinynet.data import Digits\nclass Mine(Digits): pass\n"
    config = write(digits.replace('type = "Digits"', 'type = "./mine.py:Mine"'), mine=data)
    result = run(config, quiet=True)
    (result.folder / "sources").rename(result.folder / "elsewhere")
    Path("mine.py").unlink()
    assert main(["report", str(result.folder), "--save", "page.html"]) == 0
    assert capsys.readouterr().out == "report: page.html\n"
    page = Page(Path("page.html").read_text())
    assert "Examples" not in page.titles and "Curves" in page.titles
    assert "The model cannot be tried" in page.texts["Warnings"]


def damage_nothing(folder):
    (folder / "run.json").unlink()


def damage_record(folder):
    (folder / "run.json").write_text("{")


def damage_checkpoints(folder):
    for path in folder.glob("checkpoint*.npz"):
        path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    "damage, code, text",
    [
        (damage_nothing, 2, "is not the folder of a run: it has no run.json"),
        (damage_record, 1, "run.json cannot be read"),
        (damage_checkpoints, 1, "checkpoint.npz"),
    ],
)
def test_a_damaged_or_foreign_folder_is_refused(damage, code, text, write, digits, capsys):
    folder = run(write(digits), {"run.report": False}, quiet=True).folder
    damage(folder)
    assert main(["report", str(folder)]) == code
    assert text in capsys.readouterr().err
    assert not (folder / "report.html").exists()
