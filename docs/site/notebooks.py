"""The notebooks of ``notebooks/`` as pages, with their outputs and pictures."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.site.text import fenced

_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)
_SIGNS = {
    **{r"\cdot": "·", r"\partial": "∂", r"\sigma": "σ", r"\top": "ᵀ", r"\log": "log", r"\,": " "},
    **{r"\lceil": "⌈", r"\rceil": "⌉", r"\qquad": ", ", r"\\": "; ", "&": " ", "-": "−"},
}
FOLDER = Path(__file__).parents[2] / "notebooks"
LANGUAGES = {"en": "English", "zh": "中文"}


def addresses() -> dict[str, list[str]]:
    """Return the pages of each language, in their order."""
    return {
        name: [f"notebooks/{language}/{path.stem}.md" for path in _files(language)]
        for language, name in LANGUAGES.items()
    }


def files() -> Iterator[tuple[str, str]]:
    """Yield the addresses and contents of all pages and pictures."""
    for language in LANGUAGES:
        for path in _files(language):
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            parts: list[str] = []
            for number, cell in enumerate(cells):
                name = f"{path.stem}_{number}.svg"
                parts.append(_cell(cell, name))
                for picture in _pictures(cell):
                    yield f"notebooks/{language}/{name}", picture
            yield f"notebooks/{language}/{path.stem}.md", "\n\n".join(parts)


def _files(language: str) -> list[Path]:
    return sorted((FOLDER / language).glob("*.ipynb"))


def _cell(cell: dict[str, Any], picture: str) -> str:
    """Return a cell as Markdown; a picture among its outputs has the given name."""
    text = _text(cell["source"])
    if cell["cell_type"] == "markdown":
        text = re.sub(r"\]\((\S+)\.ipynb\)", r"](\1.md)", text)
        return _FORMULA.sub(lambda found: formula(found[1] or found[2], bool(found[1])), text)
    shown = [fenced(text, "python")]
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            shown.append(fenced(_text(output["text"]), "text"))
        elif output["output_type"] == "error":
            shown.append(fenced("\n".join(output["traceback"]), "text"))
        elif "image/svg+xml" in output["data"]:
            shown.append(f"![The graph that this cell draws]({picture})")
        else:
            shown.append(fenced(_text(output["data"]["text/plain"]), "text"))
    return "\n\n".join(shown)


def formula(latex: str, is_block: bool = False) -> str:
    """Return a formula as HTML, so that the site needs no script for it."""
    text = re.sub(r"\\(?:begin|end)\{pmatrix\}", lambda found: "()"["end" in found[0]], latex)
    for name, sign in _SIGNS.items():
        text = text.replace(name, sign)
    text = re.sub(r"\\d?frac\{(.+?)\}\s*\{(.+?)\}", r"(\1/\2)", text)
    text = re.sub(r"\\text\{(.+?)\}", r"\1", text)
    text = re.sub(r"_(\{.+?\}|\w)", r"<sub>\1</sub>", text)
    text = re.sub(r"\^(\{.+?\}|\S)", r"<sup>\1</sup>", text)
    text = re.sub(r"\\overline\{(.+?)\}", r'<span class="mean">\1</span>', text)
    text = " ".join(re.sub(r"[{}]|\\ ", "", text).split())
    text = re.sub(r" (?=[,;)])|(?<=[(∂]) ", "", text)
    return f'<p class="formula"><em>{text}</em></p>' if is_block else f"<em>{text}</em>"


def _pictures(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", ()):
        if "image/svg+xml" in output.get("data", {}):
            yield _text(output["data"]["image/svg+xml"])


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
