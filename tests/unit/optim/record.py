"""Records PyTorch's answers: `python -m tests.unit.optim.record`, in an environment that has it."""

import json
from pathlib import Path

from .algorithms import RUN
from .refusals import REFUSED
from .regrouping import CASES, regrouped_rates
from .trajectories import (
    JUMPING,
    LBFGS,
    MUON,
    PLATEAU,
    RUNS,
    SCHEDULES,
    SPARSE,
    WITH_TENSORS,
    beta_rates,
    error,
    final_parameters,
    forms,
    jumps,
    lbfgs_parameters,
    muon_parameters,
    plateau_rates,
    rates_of,
    schedule_states,
    signatures,
    sparse_parameters,
)

RECORD = Path(__file__).with_name("pytorch.json")


def answers(lib):
    """Return everything that is recorded."""
    return {
        "parameters": {label: final_parameters(lib, label) for label in RUNS},
        "Muon": {label: muon_parameters(lib, label) for label in MUON},
        "sparse": {label: sparse_parameters(lib, label) for label in SPARSE},
        "LBFGS": {label: lbfgs_parameters(lib, label) for label in LBFGS},
        "rates": {label: rates_of(lib, label) for label in SCHEDULES},
        "schedules": {label: schedule_states(lib, label) for label in SCHEDULES},
        "jumps": {label: jumps(lib, label) for label in JUMPING},
        "betas": {label: beta_rates(lib, label) for label in WITH_TENSORS},
        "plateau": {label: plateau_rates(lib, label) for label in PLATEAU},
        "regrouped": {case: regrouped_rates(lib, case) for case in CASES},
        "forms": {name: forms(lib, name) for name in RUN},
        "signatures": signatures(lib),
        "refused": {name: error(lib, program) for name, program in REFUSED.items()},
    }


def main():
    import torch

    version = torch.__version__.split("+")[0]
    parts = [f'"torch": "{version}"']
    for part, found in answers(torch).items():
        rows = [f"{json.dumps(label)}: {json.dumps(answer)}" for label, answer in found.items()]
        parts.append(f'"{part}": {{\n' + ",\n".join(rows) + "\n}")
    RECORD.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{RECORD.name}: answers of torch {version}")


if __name__ == "__main__":
    main()
