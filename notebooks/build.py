"""Generate the notebooks from their sources: `python -m notebooks.build [NUMBER ...]`.

A source has the cells of one notebook, in two languages. A cell begins with a line ``# %%``:

    # %% [markdown] en       text in English, as comments; the Chinese text follows
    # %% [markdown] zh
    # %%                     code, shared by both languages
    # %% raises              code whose last line raises an error

The code runs once, and both notebooks get its outputs. The tests run it again and compare.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
SOURCES = sorted(FOLDER.glob("sources/*.py"))
LANGUAGES = {"en": "English", "zh": "中文"}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDE = "[\u3000-\u9fff\uff00-\uffef\u201c\u201d]"  # characters between which no space belongs


class Cell(NamedTuple):
    """A cell of a source: its kind ("en" and "zh" are text), and its content."""

    kind: str
    content: str


def cells_of(source):
    """Return the cells of a source."""
    parts = re.split(r"^# %%(.*)\n", source.read_text(encoding="utf-8"), flags=re.M)
    found = []
    for head, content in zip(parts[1::2], parts[2::2], strict=True):
        kind = head.removeprefix(" [markdown]").strip() or "code"
        if kind in LANGUAGES:
            content = re.sub(r"^# ?", "", content, flags=re.M)
        found.append(Cell(kind, content.strip("\n")))
    return found


def notebook_of(source, language):
    """Return the notebook of a source in one language, without outputs."""
    made = []
    for number, (kind, content) in enumerate(cells_of(source)):
        if kind in LANGUAGES and kind != language:
            continue
        if kind in LANGUAGES:
            cell = nbformat.v4.new_markdown_cell(unwrapped(content))
        else:
            cell = nbformat.v4.new_code_cell(content)
            cell.metadata = {"tags": ["raises-exception"]} if kind == "raises" else {}
        cell.id = f"cell-{number}"
        made.append(cell)
    others = [
        f"[{name}](../{other}/{source.stem}.ipynb)"
        for other, name in LANGUAGES.items()
        if other != language
    ]
    made[0].source += "\n\n" + " ".join(others)
    return nbformat.v4.new_notebook(cells=made, metadata=METADATA)


def unwrapped(text):
    """Return text without line breaks that Markdown would turn into spaces in Chinese."""
    return re.sub(rf"(?<={WIDE})\n(?={WIDE})", "", text)


def run(notebook):
    """Execute a notebook in its own kernel; store the outputs in its cells."""
    # With a plain exception the output is the message, without the paths of a traceback.
    options = ["--InteractiveShell.xmode=Minimal", "--InteractiveShell.colors=nocolor"]
    client = NotebookClient(notebook, timeout=300, record_timing=False, extra_arguments=options)
    client.execute(cwd=FOLDER)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [tidy(output) for output in joined(cell.outputs)]
    return notebook


def joined(outputs):
    """Return outputs with printed text joined, warnings first: it arrives in arbitrary pieces."""
    streams = {}
    for output in outputs:
        if output.output_type == "stream":
            streams.setdefault(output.name, []).append(output.text)
    printed = [
        nbformat.v4.new_output("stream", name=name, text="".join(streams[name]))
        for name in sorted(streams)
    ]
    return printed + [output for output in outputs if output.output_type != "stream"]


def tidy(output):
    """Return an output without anything specific to a machine or a run."""
    if output.output_type == "stream":
        output.text = plain(output.text)
    elif output.output_type == "error":
        output.traceback = [plain(line) for line in output.traceback]
        output.evalue = plain(output.evalue)
    else:
        output.data = {
            kind: plain(value)
            for kind, value in output.data.items()
            if kind != "text/plain" or len(output.data) == 1
        }
    return output


def plain(text):
    """Return text without colours, object addresses and the temporary files of cells."""
    text = re.sub(r"\x1b\[[\d;]*m", "", text)
    text = re.sub(r"\S*ipykernel_\d+\S*\.py:(\d+): ", r"line \1: ", text)
    return re.sub(r"\b0x[0-9a-f]{6,}\b", "0x7f0000000000", text)


def comparable(output):
    """Return the parts of an output that every run reproduces: no times, no layout of pictures."""
    if output.output_type == "stream":
        return output.name, re.sub(r" *\d+ µs", " TIME", output.text)
    if output.output_type == "error":
        return output.ename, output.evalue
    return {
        kind: re.sub(r"\d+\.\d (µs|ms)", "TIME", "\n".join(re.findall(r">([^<>]+)</text>", value)))
        if kind == "image/svg+xml"
        else value
        for kind, value in output.data.items()
    }


def outputs_of(notebook):
    """Return the comparable outputs of the code of a notebook, a list for each cell."""
    return [[comparable(o) for o in c.outputs] for c in notebook.cells if c.cell_type == "code"]


def path_of(source, language):
    """Return the path of a notebook."""
    return FOLDER / language / f"{source.stem}.ipynb"


def stored(source, language):
    """Return the existing notebook."""
    return nbformat.read(path_of(source, language), as_version=4)


def with_outputs(source, language, executed):
    """Return the notebook in a language, with the outputs of the executed one."""
    notebook = notebook_of(source, language)
    done = iter([cell for cell in executed.cells if cell.cell_type == "code"])
    for cell in notebook.cells:
        if cell.cell_type == "code":
            twin = next(done)
            cell.outputs, cell.execution_count = twin.outputs, twin.execution_count
    return notebook


def text_of(notebook):
    """Return a notebook as the text of its file."""
    return nbformat.writes(notebook) + "\n"


def main(numbers):
    """Build the notebooks with these numbers, or all of them."""
    for source in SOURCES:
        if numbers and source.stem.split("_")[0] not in numbers:
            continue
        executed = run(notebook_of(source, "en"))
        if path_of(source, "en").exists():  # times alone do not justify a change
            before = stored(source, "en")
            executed = before if outputs_of(before) == outputs_of(executed) else executed
        for language in LANGUAGES:
            path = path_of(source, language)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text_of(with_outputs(source, language, executed)), encoding="utf-8")
            print(path.relative_to(FOLDER), f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
