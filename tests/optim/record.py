"""Records PyTorch's answers: `python -m tests.optim.record`, in an environment that has it."""

import json
from pathlib import Path

RECORD = Path(__file__).with_name("pytorch.json")


def main():
    import torch

    from .trajectories import answers

    version = torch.__version__.split("+")[0]
    parts = [f'"torch": "{version}"']
    for part, found in answers(torch).items():
        rows = [f"{json.dumps(label)}: {json.dumps(answer)}" for label, answer in found.items()]
        parts.append(f'"{part}": {{\n' + ",\n".join(rows) + "\n}")
    RECORD.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{RECORD.name}: answers of torch {version}")


if __name__ == "__main__":
    main()
