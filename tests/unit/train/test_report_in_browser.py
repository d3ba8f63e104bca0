"""Reports in a real browser: as wide as the screen, light and dark, nothing loaded or refused.

Screenshots go to the folder that TINYNET_SCREENSHOTS names, if it does.
"""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.unit.board import browser
from tinynet.train import run
from tinynet.train.cli import main

pytestmark = [
    pytest.mark.skipif(bool(browser.missing()), reason=f"needs: {browser.missing()}"),
    pytest.mark.usefixtures("reports"),
]

CONFIGS = Path(__file__).parents[3] / "configs"
SCREENS = {"desktop": (1400, 900), "phone": (390, 844), "small phone": (320, 600)}
TALLEST = 150  # pixels of a row of a table on a phone
FLATTEN = '{type="Flatten"}'
LINEAR = '{type="Linear", in_features=64, out_features=10}'
HIDDEN = '{type="Linear", in_features=64, out_features=64}, {type="BatchNorm1d", num_features=64}'
LAYERS = """
run.epochs = 2
data = {type = "Digits"}
model = {type = "sequential", layers = []}
loss = {type = "CrossEntropyLoss"}
optimizer = {type = "SGD", lr = 0.01}
"""
LONG = "a_very_long_name_without_any_place_to_break_it_" * 3


@pytest.fixture(scope="module")
def driver():
    with browser.browser() as driver:
        yield driver


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The reports of runs with pictures, text, tables, long names and commands; and of a sweep."""
    out = tmp_path_factory.mktemp("runs")
    text = {"data.limit": 4000, "model.width": 8, "model.hidden": 16}
    changes = {"digits_vae": {}, "text_lstm": text, "spiral": {"run.name": LONG}}
    found = {}
    typed = ["train.py", *(f"--option-{n}=value" for n in range(200))]
    for name, own in changes.items():
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "argv", typed)
            result = run(CONFIGS / f"{name}.toml", {"run.epochs": 2, **own}, out=out, quiet=True)
        found[name] = result.folder / "report.html"
    (out / "layers.toml").write_text(LAYERS)
    layers = [f"[{FLATTEN}, {LINEAR}]", f"[{FLATTEN}, {HIDDEN}, {LINEAR}]"]
    points = [(f"model.layers={one}", f"run.seed={seed}") for one in layers for seed in (0, 1)]
    # In this process: test_html_report.py compares the report of a sweep with that of its runs.
    own = [
        run(out / "layers.toml", (*point, "run.report=false"), out=out / "sweep", quiet=True)
        for point in points
    ]
    found["sweep"] = out / "sweep.html"
    compared = [str(result.folder) for result in own]
    assert main(["report", *compared, "--save", str(found["sweep"])]) == 0
    found["find-lr"] = out / "lr.html"
    assert main(["find-lr", str(CONFIGS / "spiral.toml"), "--report", str(found["find-lr"])]) == 0
    return found


def show(driver, page, screen, scheme):
    """Open a page on a screen, as a person who prefers a colour scheme."""
    width, height = SCREENS[screen]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    preferred = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": preferred})
    driver.get_log("browser")
    driver.get(page.as_uri())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", ["digits_vae", "text_lstm", "spiral", "sweep", "find-lr"])
def test_a_page_fits_the_screen(name, screen, scheme, driver, pages):
    show(driver, pages[name], screen, scheme)
    widths = "return [document.documentElement.scrollWidth, window.innerWidth]"
    page, window = driver.execute_script(widths)
    assert page <= window == SCREENS[screen][0]
    if screen != "desktop" and name != "find-lr":
        rows = "[...document.querySelectorAll('tr')].map(row => row.offsetHeight)"
        assert max(driver.execute_script(f"return {rows}")) <= TALLEST
    assert driver.get_log("browser") == []  # such as something that its policy refused
    if folder := os.environ.get("TINYNET_SCREENSHOTS"):
        driver.save_screenshot(str(Path(folder, f"report_{name}_{screen}_{scheme}.png")))


SORTED = """
const table = [...document.querySelectorAll('table.sortable')].pop();
const titles = [...table.tHead.rows[0].cells];
const column = titles.findIndex(title => title.textContent.endsWith(' loss'));
titles[column].click();
return [...table.tBodies[0].rows].map(row => row.cells[column].textContent);
"""


def test_a_click_sorts(driver, pages):
    show(driver, pages["sweep"], "desktop", "light")
    up, down = driver.execute_script(SORTED), driver.execute_script(SORTED)
    losses = [*map(float, up)]
    assert len(losses) == 4 and losses == sorted(losses)
    assert [*map(float, down)] == sorted(losses, reverse=True)
    assert driver.get_log("browser") == []


OVERLAPS = """
const boxes = [...document.querySelectorAll('.plot svg')].filter(svg => svg.getClientRects().length)
  .map(svg => [...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect()));
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
return boxes.map(texts =>
  texts.filter((text, n) => texts.some((other, m) => m < n && meet(text, other))).length);
"""


@pytest.mark.parametrize("screen", ["desktop", "phone"])
@pytest.mark.parametrize("name", ["digits_vae", "spiral", "sweep", "find-lr"])
def test_no_label_covers_another(name, screen, driver, pages):
    show(driver, pages[name], screen, "light")
    found = driver.execute_script(OVERLAPS)
    assert found and not any(found)


def test_points_show_their_values(driver, pages):
    show(driver, pages["sweep"], "desktop", "light")
    tips = "[...document.querySelectorAll('circle title')].map(title => title.textContent)"
    found = driver.execute_script(f"return {tips}")
    assert any(
        re.search(r"layers=.*, validation, epoch 2: [\d.]+ % ± [\d.]+ %$", tip) for tip in found
    )
    assert any(re.search(r"seed=1 layers=.*: accuracy [\d.]+ %$", tip) for tip in found)


LIGHTNESS = """
const lightness = (element, what) => {
  const numbers = getComputedStyle(element)[what].match(/[0-9.]+/g).map(Number);
  return numbers.slice(0, 3).reduce((sum, value) => sum + value) / 3;
};
const label = document.querySelector('.plot svg text');
return [lightness(document.body, 'backgroundColor'), lightness(document.body, 'color'),
        lightness(label, 'fill')];
"""


@pytest.mark.parametrize("name", ["digits_vae", "sweep"])
def test_light_and_dark(name, driver, pages):
    show(driver, pages[name], "phone", "light")
    paper, ink, label = driver.execute_script(LIGHTNESS)
    assert paper > 200 and ink < 80 and label < 80
    show(driver, pages[name], "phone", "dark")
    paper, ink, label = driver.execute_script(LIGHTNESS)
    assert paper < 60 and ink > 180 and label > 180
