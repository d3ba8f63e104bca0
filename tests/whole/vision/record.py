"""Record torchvision's answers: `python -m tests.whole.vision.record`; needs torchvision."""

import json
from pathlib import Path

import torch
import torchvision
from PIL import Image
from torchvision import datasets as D
from torchvision import models as M
from torchvision import transforms as T
from torchvision.transforms import v2

from tests.whole.vision import calls

FILE = Path(__file__).with_name("answers.json")


def main():
    """Write the file."""
    names = {"T": T, "v2": v2, "D": D, "M": M, "torch": torch}
    answers = {
        "torchvision": torchvision.__version__.partition("+")[0],
        "functions": [
            {
                kind: calls.called(torch, T.functional, call, image)
                for kind, image in calls.images(torch, Image).items()
                if calls.suits(call, kind)
            }
            for call in calls.FUNCTIONS
        ],
        "operations": [
            {
                kind: calls.operated(T.autoaugment._apply_op, operation, image, T)
                for kind, image in calls.images(torch, Image).items()
                if kind != "floats"
            }
            for operation in calls.OPERATIONS
        ],
        "spaces": [
            {
                name: [values.reshape(-1).tolist() if values.ndim else [], signed]
                for name, (values, signed) in eval(text, names)
                ._augmentation_space(*arguments)
                .items()
            }
            for text, *arguments in calls.SPACES
        ],
        "policies": {
            policy.value: T.AutoAugment(policy).policies for policy in T.AutoAugmentPolicy
        },
        "shown": {text: repr(eval(text, dict(names))) for text in calls.SHOWN},
        "grids": [
            torchvision.utils.make_grid(calls.batch(torch), **options).tolist()
            for options in calls.GRIDS
        ],
        "models": {
            name: {key: list(value.shape) for key, value in getattr(M, name)().state_dict().items()}
            for name in (*calls.MODELS, *calls.LARGE)
        },
        "weights": {
            name: {key: member.url for key, member in getattr(M, name).__members__.items()}
            for name in calls.WEIGHTS
        },
    }
    text = (
        json.dumps(answers, separators=(",", ":")).replace('},"', '},\n"').replace("},{", "},\n{")
    )
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
