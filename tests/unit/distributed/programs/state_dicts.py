"""States that only process 0 gets, and that it passes to the others."""

import tinynet as tn
from tinynet import distributed as dist
from tinynet import nn, optim
from tinynet.compat.parallel.state_dicts import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)

dist.init_process_group("mpi")
rank = dist.get_rank()
plain = nn.Linear(2, 3)
model = nn.parallel.DistributedDataParallel(plain)
optimizer = optim.Adam(model.parameters(), lr=0.5)
model(tn.ones(4, 2)).sum().backward()
optimizer.step()

state, held = get_state_dict(model, optimizer)
assert [*state] == ["weight", "bias"] == held["param_groups"][0]["params"]

first = StateDictOptions(full_state_dict=True, cpu_offload=True)
state, held = get_state_dict(model, optimizer, options=first)
assert (bool(state), bool(held)) == ((True, True) if rank == 0 else (False, False))

saved = {name: x.clone() for name, x in plain.state_dict().items()}
optimizer.step()
passed = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
state = {name: x.clone() for name, x in saved.items()} if rank == 0 else {}
fresh = optim.Adam(model.parameters(), lr=0.25)
set_state_dict(model, fresh, model_state_dict=state, optim_state_dict=held, options=passed)
assert all(x.equal(saved[name]) for name, x in plain.state_dict().items())
assert fresh.param_groups[0]["lr"] == 0.5 and fresh.state[plain.weight]["step"] == 2
print("passed")
