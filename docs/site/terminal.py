"""A picture of a training run in a terminal: `python -m docs.site.terminal`.

Trains with the first config of the README in a terminal of 100 columns, and writes
``docs/images/training.svg``: the screen in the middle of the third epoch, and at the end.
"""

import os
import re
import struct
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "training.svg"
CONFIG = "configs/digits_mlp.toml"
COMMAND = f"$ python3 run.py train {CONFIG}"
COLUMNS, CHARACTER, LINE, MARGIN = 100, 7.8, 19, 16


def output() -> str:
    """Return everything that a training run writes to a terminal."""
    import fcntl  # not on Windows
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    with tempfile.TemporaryDirectory() as folder:
        training = subprocess.Popen(
            [sys.executable, "-m", "tinynet", "train", str(ROOT / CONFIG)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        os.close(theirs)
        found = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            found += part
        os.close(ours)
        if training.wait():
            raise RuntimeError(found.decode())
    return found.decode()


def shown(text: str) -> list[str]:
    """Return the screen in the middle of the third epoch, and at the end of the last one."""
    lines = text.replace("\r\n", "\n").strip().split("\n")
    last = [line.rpartition("\r")[2].rstrip() for line in lines]  # the final state of each line
    epochs = [number for number, line in enumerate(last) if line.startswith("epoch")]
    half = min(lines[epochs[2]].split("\r"), key=lambda bar: abs(_percent(bar) - 50))
    return [*last[: epochs[2]], half.rstrip(), "\u22ee", *last[epochs[-1] :]]


def _percent(bar: str) -> int:
    found = re.match(r"epoch +\d+/\d+ +(\d+) % \|", bar)
    return int(found[1]) if found else 0


def picture(lines: list[str]) -> str:
    """Return the SVG of lines in a dark terminal."""
    width, height = COLUMNS * CHARACTER + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-size="13" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">',
        "<title>A training in a terminal</title>",
        '<rect width="100%" height="100%" rx="8" fill="#1e2430"/>',
    ]
    for number, line in enumerate(lines):
        colour = "#8fbf7f" if line.startswith("$") else "#d8dee9"
        y = MARGIN + LINE * number + 14
        parts.append(
            f'<text x="{MARGIN}" y="{y}" fill="{colour}" xml:space="preserve" '
            f'textLength="{len(line) * CHARACTER:.1f}">{escape(line)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Train, and write the picture."""
    PICTURE.write_text(picture([COMMAND, *shown(output())]), encoding="utf-8")


if __name__ == "__main__":
    main()
