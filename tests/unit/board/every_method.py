"""A run in which every method of the writer was called, with what it was given."""

import numpy as np

import tinynet as tn
from tinynet.board import SummaryWriter

RANDOM = np.random.default_rng(0)
VALUES = np.concatenate([RANDOM.normal(size=1000), [0.0, -3e25, 1e-15]])
PHOTO = RANDOM.integers(0, 256, (3, 20, 30), dtype=np.uint8)
BATCH = RANDOM.random((5, 1, 4, 6)).astype(np.float32)
FILM = RANDOM.random((2, 3, 3, 4, 4)).astype(np.float32)
SOUND = np.sin(np.arange(1000) / 10)
LABELS, LIKELY = RANDOM.integers(0, 2, 200), RANDOM.random(200)
POINTS = RANDOM.normal(size=(7, 4)).astype(np.float32)
ICONS = RANDOM.random((7, 3, 5, 5)).astype(np.float32)
CORNERS = RANDOM.random((1, 8, 3)).astype(np.float32)


def write(folder):
    with SummaryWriter(folder) as writer:
        fill(writer)


def fill(writer):
    for step in range(3):
        writer.add_scalar("train/loss", step / 2, step, walltime=1e9 + step)
        writer.add_scalars("both", {"a": step, "b": -step}, step)
    writer.add_text("notes", "# Größe", 4)
    writer.add_histogram("weights", tn.tensor(VALUES), 2)
    writer.add_histogram("even", VALUES[:1000], 2, bins=10)
    writer.add_histogram_raw("raw", 0, 2, 3, 3.0, 5.0, [1, 2], np.array([1, 2]))
    writer.add_image("photo", PHOTO, 3)
    writer.add_images("batch", tn.tensor(BATCH))
    writer.add_image_with_boxes("boxes", PHOTO, [[2, 3, 10, 12]])
    writer.add_video("film", FILM, fps=8)
    writer.add_audio("sound", SOUND, 1, sample_rate=8000)
    writer.add_pr_curve("dog", LABELS, tn.tensor(LIKELY), 5, num_thresholds=201)
    writer.add_pr_curve_raw("counted", [3, 1], [2, 0], [0, 2], [0, 2], [0.6, 1.0], [1, 0.3])
    writer.add_embedding(POINTS, [f"p{i}" for i in range(7)], tn.tensor(ICONS), tag="a/b")
    rows = [[i, i % 2 == 0] for i in range(7)]
    writer.add_embedding(POINTS * 2, rows, global_step=12, metadata_header=["n", "even"])
    writer.add_mesh("cube", CORNERS, faces=[[[0, 1, 2]]], config_dict={"camera": {"fov": 5}})
    writer.add_custom_scalars(
        {"losses": {"all": ["Multiline", ["train/.*"]], "band": ["Margin", ["a", "b", "c"]]}}
    )
    for lr in (0.1, 0.01):
        writer.add_hparams(
            {"lr": lr, "layers": np.int64(2), "norm": True, "optimizer": "SGD", "none": None},
            {"final/accuracy": 1 - lr, "final/loss": tn.tensor(lr)},
            {"optimizer": ["SGD", "Adam"]},
            run_name=f"lr{lr}",
            global_step=9,
        )
