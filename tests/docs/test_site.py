"""The site is built without a warning, fetches nothing, and fits a phone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.board import browser

ROOT = Path(__file__).parents[2]
PHONE, DESK = 390, 1280


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | quiet, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_nothing_is_fetched_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 35
    fetched = re.compile(r'<(?:script|img|iframe|link[^>]*stylesheet)[^>]*(?:src|href)="(//|http)')
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not fetched.search(text), page.name
        assert "<!-- generated" not in text, page.name


def test_pictures_are_there(site):
    for page in site.rglob("*.html"):
        for picture in re.findall(r'<img[^>]*src="([^"]+)"', page.read_text(encoding="utf-8")):
            assert (page.parent / picture).exists(), f"{page.name}: {picture}"


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there is a browser")
def test_pages_are_no_wider_than_the_screen(site):
    with browser.browser() as driver:
        for width in (PHONE, DESK):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for page in [
                *sorted(site.glob("*.html")),
                site / "api/nn.html",
                site / "howto/op.html",
            ]:
                driver.get(page.as_uri())
                needed = driver.execute_script("return document.documentElement.scrollWidth")
                assert needed <= width, f"{page.name} needs {needed} pixels of {width}"
