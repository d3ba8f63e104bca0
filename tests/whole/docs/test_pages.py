"""What the documentation says is so: its programs run, its files exist, every name is on a page."""

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tinynet
from docs.site import api, configs, gaps, glossary, hooks, inventory
from docs.site.docstrings import markdown
from docs.site.inventory import TITLES
from tinynet.base import lazy
from tinynet.train.config.sections import SECTIONS, settings

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md"))
ELSEWHERE = {
    "graphs.md": "tests/unit/board/test_docs.py",
    "exchange.md": "tests/unit/exchange/test_page.py",
}
"""Pages whose programs another test runs."""

PROGRAMS = [p for p in PAGES if "```python" in p.read_text("utf-8") and p.name not in ELSEWHERE]


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.stem)
def test_programs_run_and_show_what_stands_there(page, tmp_path):
    """In a process of its own: some pages declare operations."""
    if "torch.bfloat16" in page.read_text("utf-8"):
        pytest.importorskip("ml_dtypes", reason="needs ml_dtypes: pip install ml_dtypes")
    if page.name == "onnx.md":
        pytest.importorskip("onnx", reason="needs onnx: pip install onnx")
        pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name("run_page.py")), page]
    done = subprocess.run(
        command, cwd=tmp_path, env=surroundings(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def surroundings():
    return os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}


def test_programs_that_run_elsewhere_do():
    for page, test in ELSEWHERE.items():
        assert page in (ROOT / test).read_text(encoding="utf-8")


# ---- references ----

REFERENCE = re.compile(r"`((?:[\w.]+/)*[\w.]+\.py)(?::([\w.]+))?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_files_and_functions_that_a_page_names_exist(page):
    written = set(re.findall(r'title="(.*?)"', page.read_text("utf-8")))
    for file, name in REFERENCE.findall(page.read_text(encoding="utf-8")):
        found = [p for p in (ROOT / file, ROOT / "tinynet" / file, DOCS / file) if p.exists()]
        if "/" not in file and not found:  # a file of the folder that the text is about
            found = [*(ROOT / "tinynet").rglob(file)]
        assert found or file in written, f"{page.name} names {file}, which does not exist"
        if name:
            text = found[0].read_text(encoding="utf-8")
            assert re.search(rf"^\s*(def|class) {name}\b", text, re.M), (
                f"{page.name} names {file}:{name}, which has gone"
            )


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_no_page_promises_digits_of_a_training(page):
    """They depend on the processor."""
    assert not re.search(r"(accuracy|loss) \d", page.read_text(encoding="utf-8"))


# ---- the reference of the API ----


@pytest.fixture(scope="module")
def reference():
    return api.pages()


def names_in(module):
    """What users would call the names of a module, without regard to `docs.site.inventory`."""
    private = {"TYPE_CHECKING", "annotations"}
    for name, value in lazy.members(module).items():
        home = getattr(value, "__module__", "") or ""
        if name.startswith("_") or inspect.ismodule(value) or name in private:
            continue
        if home.startswith("tinynet") and (inspect.isclass(value) or callable(value)):
            yield name


WHOLE = ["", "nn", "nn.functional", "nn.utils", "optim", "optim.lr_scheduler", "data", "autograd"]
WHOLE += ["data.transforms", "board", "train", "exchange", "linalg"]


@pytest.mark.parametrize("path", WHOLE)
def test_every_public_name_is_on_a_page(path, reference):
    anchors = set(re.findall(r'\{ #([\w.]+) \}|<a id="([\w.]+)"', "".join(reference.values())))
    known = {a or b for a, b in anchors}
    module = inventory.module_of(path) if path else tinynet
    hidden = {n.rpartition(".")[2] for n in inventory.HELPERS}
    missing = [
        name
        for name in names_in(module)
        if f"{path or 'tn'}.{name}" not in known and name not in hidden | {"Tensor"}
    ]
    assert not missing


def test_every_method_of_a_tensor_is_on_its_page(reference):
    page = reference["api/tensor.md"]
    missing = [
        name
        for name in dir(tinynet.Tensor)
        if not name.startswith("_")
        and f'"Tensor.{name}"' not in page
        and f"#Tensor.{name} " not in page
    ]
    assert not missing


def test_every_name_that_pytorch_shares_is_documented(reference):
    """The names of the coverage table that tinynet has are all anchors of the reference."""
    text = "".join(reference.values())
    names = json.loads((DOCS / "coverage" / "names.json").read_text(encoding="utf-8"))
    spaces = [s for s in names if s.startswith("torch.") and s != "torch.Tensor"]
    assert len(spaces) > 5
    for space in spaces:
        path = space.removeprefix("torch.").replace("utils.data", "data")
        try:
            module = importlib.import_module(f"tinynet.{path}")
        except ModuleNotFoundError:
            module = inventory.module_of(path)
        for name in names[space]:
            value = getattr(module, name, None)
            if value is not None and not inspect.ismodule(value):
                assert f"{path}.{name} }}" in text or f'"{path}.{name}"' in text, f"{path}.{name}"


@pytest.mark.parametrize("page", TITLES)
def test_every_name_has_an_example(page):
    assert not gaps.without_example(page), "these need an `Example:` in their docstring"


@pytest.mark.parametrize("page", TITLES)
def test_every_name_says_what_it_takes(page):
    assert not gaps.without_arguments(page), "these need `Args:` in their docstring"


@pytest.mark.parametrize("layer", ["LazyConv1d", "LazyBatchNorm2d", "RNN", "GRU", "RNNBase"])
def test_a_layer_that_refers_to_another_gets_no_general_meanings(layer):
    """The ``stride`` of windows is that of pooling, and the ``bias`` of functions is a tensor."""
    assert not glossary.of(getattr(tinynet.nn, layer))
    assert {"device", "dtype"} <= glossary.of(tinynet.zeros).keys()


@pytest.mark.parametrize("page", TITLES)
def test_every_name_says_which_errors_it_raises(page):
    assert not gaps.without_errors(page), "these need `Raises:`, see docs/site/raises.py"


@pytest.mark.parametrize("page", TITLES)
def test_every_name_says_where_its_mathematics_comes_from(page):
    assert not gaps.without_source(page), "these need a formula or a paper"


def test_docstrings_become_markdown():
    doc = inspect.cleandoc("""What it is: ``a_b`` of *args* and <x>.

        Args:
            first, second: two of them;
                more.
            *rest: others.

        Raises:
            ValueError: often.

        Example:
            >>> 1
            1
    """)
    assert markdown(doc) == (
        "What it is: ``a_b`` of \\*args\\* and &lt;x>.\n\n**Args**\n\n"
        "- `first`, `second`: two of them; more.\n- `*rest`: others.\n\n**Raises**\n\n"
        "- `ValueError`: often.\n\n``` {.pycon}\n>>> 1\n1\n```"
    )


# ---- generated parts ----


def test_every_mark_has_a_part_and_every_part_a_mark():
    marks = {m for p in PAGES for m in hooks.MARK.findall(p.read_text(encoding="utf-8"))}
    assert marks == set(hooks.PARTS)


@pytest.mark.parametrize("part", hooks.PARTS)
def test_generated_parts_say_something(part):
    assert len(hooks.PARTS[part]()) > 200


def test_every_key_of_a_config_is_in_the_reference():
    text = configs.part()
    for name, section in SECTIONS.items():
        assert f"## [{name}]" in text
        assert all(f"| `{key}` |" in text for key in settings(section))
