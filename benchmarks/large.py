"""Large models: GPT-2 and ResNet-18."""

from benchmarks import models
from benchmarks.workloads import ADAMW, BY_NAME, MOMENTUM, Workload, text, vectors

TOKENS = 50257
LARGE = (
    Workload("gpt2", "GPT-2, 124 million parameters, T 256", 1, {},
             lambda lib: models.gpt(lib, TOKENS, 256, 12, 768, 12, tied=True), ADAMW,
             text(1, 256, TOKENS)),
    Workload("resnet18", "ResNet-18, 64x64", 32, {},
             models.resnet18, MOMENTUM, vectors(32, 3, 64, 64)),
)  # fmt: skip
BY_NAME.update({row.name: row for row in LARGE})
