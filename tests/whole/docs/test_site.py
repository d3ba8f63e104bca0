"""The site is built without a warning, fetches nothing, and fits a phone."""

import functools
import html
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import pytest

from tests.unit.board import browser

ROOT = Path(__file__).parents[3]
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


def test_notebooks_are_pages_with_pictures(site):
    for language in ("en", "zh"):
        sources = sorted((ROOT / "notebooks" / language).glob("*.ipynb"))
        assert len(sources) == 6
        for source in sources:
            cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
            outputs = [one for cell in cells for one in cell.get("outputs", ())]
            drawn = sum("image/svg+xml" in one.get("data", {}) for one in outputs)
            page = (site / f"notebooks/{language}/{source.stem}.html").read_text(encoding="utf-8")
            assert page.count("The graph that this cell draws") == drawn > 0
            assert "$" not in re.sub("<code.*?</code>|<script.*?</script>", "", page, flags=re.S)
            heading = cells[0]["source"]
            assert "".join(heading).splitlines()[0].strip("# ") in html.unescape(page)


@pytest.fixture(scope="module")
def address(site):
    """The address of the site on a server: browsers run no search in files."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


# The theme lets tables scroll, which its script arranges some time after the page is loaded.
SCROLLS = """return [...document.querySelectorAll('article table:not([class])')]
    .every(table => table.closest('.md-typeset__scrollwrap'))"""
FOUND = "return [...document.querySelectorAll('.md-search-result__link')].map(a => a.href)"
SEARCHED = {
    "gradient clipping": ["training.html", "training.html#gradient-clipping"],
    "early stopping": ["training.html", "training.html#early-stopping"],
    "validation": ["validation.html"],
}


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there is a browser")
def test_search_finds_first_what_explains(address):
    with browser.browser() as driver:
        for words, pages in SEARCHED.items():
            driver.get("about:blank")
            driver.get(f"{address}/index.html?q={urllib.parse.quote(words)}")
            driver.execute_script("document.querySelector('.md-search__input').focus()")
            end = time.monotonic() + 60
            while not (found := driver.execute_script(FOUND)) and time.monotonic() < end:
                time.sleep(0.1)
            first = [re.sub(r"\?[^#]*", "", one.removeprefix(f"{address}/")) for one in found]
            assert first[: len(pages)] == pages


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there is a browser")
def test_pages_are_no_wider_than_the_screen(site, request):
    """A third of the pages, all with ``--full``."""
    step = 1 if request.config.getoption("--full") else 3
    with browser.browser() as driver:
        for width in (PHONE, DESK):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for page in [
                *sorted(site.glob("*.html"))[::step],
                site / "api/nn.html",
                site / "howto/op.html",
                *sorted(site.glob("notebooks/*/*.html"))[::step],
            ]:
                driver.get(page.as_uri())
                end = time.monotonic() + 60
                while not driver.execute_script(SCROLLS) and time.monotonic() < end:
                    time.sleep(0.1)
                needed = driver.execute_script("return document.documentElement.scrollWidth")
                assert needed <= width, f"{page.name} needs {needed} pixels of {width}"
