"""A picture of a report, on a screen and on a phone: `python -m docs.site.report_picture`.

Trains `configs/digits_cnn.toml`, opens its report in a browser (Debian: apt install chromium
chromium-driver), and writes ``docs/images/report.png``.
"""

import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from tests.unit.board import browser
from tinynet.train import run

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "report.png"
CONFIG = ROOT / "configs" / "digits_cnn.toml"
HEIGHT, GAP = 1064, 24
SCREENS = (("light", 900, "Overview"), ("dark", 390, "Confusion matrix"))
"""The colours, the width, and the section at the top, from left to right."""


def shown(driver: Any, page: Path, scheme: str, width: int, section: str) -> Image.Image:
    """Return a page as a person with a preferred colour scheme sees it."""
    size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    preferred = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": preferred})
    driver.get(page.as_uri())
    titles = "[...document.querySelectorAll('h2')]"
    top = f"{titles}.find(title => title.textContent === arguments[0]).parentElement.offsetTop"
    if section != SCREENS[0][2]:
        driver.execute_script(f"window.scrollTo(0, {top})", section)
    return Image.open(BytesIO(driver.get_screenshot_as_png())).convert("RGB")


def main() -> None:
    """Train, and write the picture."""
    with tempfile.TemporaryDirectory() as folder, browser.browser() as driver:
        page = run(CONFIG, out=folder, quiet=True).folder / "report.html"
        parts = [shown(driver, page, *screen) for screen in SCREENS]
    width = sum(part.width for part in parts) + GAP * (len(parts) - 1)
    whole = Image.new("RGB", (width, HEIGHT), "#868686")
    left = 0
    for part in parts:
        whole.paste(part, (left, 0))
        left += part.width + GAP
    whole.save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
