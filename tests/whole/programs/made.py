"""Small data in place of a download, and the training of a library's modules."""

import array
import pickle
import random
from pathlib import Path

WORDS = "the a cat dog bird sat lay ran on by with mat door fire tree and but then".split()


def text(path: Path) -> None:
    """Write sentences of a few words for language models."""
    rng = random.Random(0)
    lines = (" ".join(rng.choices(WORDS, k=rng.randint(5, 12))) + " ." for _ in range(800))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def cora(folder: Path) -> None:
    """Write a citation graph: papers with words and one of seven subjects, and their citations."""
    folder.mkdir(exist_ok=True)
    rng = random.Random(0)
    count, words = 1600, 60
    subjects = [rng.randrange(7) for _ in range(count)]
    lines = []
    for paper, subject in enumerate(subjects):
        has = [int(rng.random() < (0.4 if word % 7 == subject else 0.05)) for word in range(words)]
        lines.append("\t".join(map(str, [paper, *has, f"subject_{subject}"])))
    (folder / "cora.content").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = set()
    while len(pairs) < 4000:
        a, b = rng.randrange(count), rng.randrange(count)
        if a != b and (subjects[a] == subjects[b] or rng.random() < 0.1):
            pairs.add((a, b))
    cites = "\n".join(f"{a}\t{b}" for a, b in sorted(pairs))
    (folder / "cora.cites").write_text(cites + "\n", encoding="utf-8")


def characters(folder: Path) -> None:
    """Write the characters of a text as numbers, in nanoGPT's files."""
    folder.mkdir(exist_ok=True)
    text(folder / "input.txt")
    content = (folder / "input.txt").read_text("utf-8")
    known = sorted(set(content))
    numbers = array.array("H", map(known.index, content)).tobytes()
    for part in ("train", "val"):
        (folder / f"{part}.bin").write_bytes(numbers)
    meta = {"vocab_size": len(known), "itos": dict(enumerate(known))}
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))


def training(setup: str, loss: str) -> str:
    """Return a program that trains what `setup` makes: `net`, and another optimizer than Adam."""
    return f"""import sys
from types import ModuleType, SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn


def blank(name, **names):  # a module in place of one that is not there, or whose parts are enough
    sys.modules[name] = made = ModuleType(name)
    made.__path__ = [name.replace(".", "/")]
    vars(made).update(names)


def script(file, *changes):  # run a program of the repository, with each (old, new) replaced
    from launch import code_of

    with open(code_of(file), encoding="utf-8") as opened:
        text = opened.read()
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{{file}} does not contain {{old!r}}")
        text = text.replace(old, new)
    exec(compile(text, file, "exec"), {{"__name__": "__main__", "__file__": file}})
    sys.exit()


{setup}
if "optimizer" not in globals():
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(24):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


MAKERS = {"text": text, "cora": cora, "characters": characters}
