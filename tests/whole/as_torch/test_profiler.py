"""torch.profiler: what is recorded when, and in which form it comes out."""

import json

import pytest

import tinynet as tn
from tinynet.compat import profiler


def work():
    with profiler.record_function("block"):
        x = tn.ones(2, 3) * 2 + 1
    return x.sum()


def test_operations_and_blocks_are_counted_with_their_times():
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as p:
        work()
        work()
    tn.ones(3) + 1  # not recorded
    rows = {row.key: row for row in p.key_averages()}
    assert {k: row.count for k, row in rows.items()} == {
        "block": 2, "aten::add": 2, "aten::mul": 2, "aten::sum": 2,
    }  # fmt: skip
    block = rows["block"]
    inside = rows["aten::add"].cpu_time_total + rows["aten::mul"].cpu_time_total
    assert block.self_cpu_time_total == pytest.approx(block.cpu_time_total - inside)
    total = p.key_averages().total_average().cpu_time_total
    assert total == pytest.approx(block.cpu_time_total + rows["aten::sum"].cpu_time_total)
    shapes = [row.input_shapes for row in p.key_averages(group_by_input_shape=True)]
    assert ((2, 3),) in shapes


def test_the_table_is_sorted_and_cut():
    with profiler.profile() as p:
        work()
        tn.ones(1).sum() + 1
    lines = p.key_averages().table(sort_by="count", row_limit=2).splitlines()
    assert lines[0].split()[0] == "Name" and len(lines) == 4
    assert {line.split()[0] for line in lines[1:3]} == {"aten::add", "aten::sum"}


def test_a_trace_for_browsers(tmp_path):
    handler = profiler.tensorboard_trace_handler(str(tmp_path / "runs"), "w")
    with profiler.profile(on_trace_ready=handler):
        work()
    (path,) = (tmp_path / "runs").iterdir()
    events = json.loads(path.read_text())["traceEvents"]
    assert path.name.endswith(".pt.trace.json") and len(events) == 4
    assert all(e["ph"] == "X" and e["dur"] >= 0 for e in events)


def test_only_scheduled_steps_are_recorded():
    found = []
    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    with profiler.profile(schedule=plan, on_trace_ready=lambda p: found.append(p.events())) as p:
        for n in range(12):
            tn.ones(n).sum()
            p.step()
    sums = [[e.shapes for e in events if e.name == "aten::sum"] for events in found]
    assert sums == [[((3,),), ((4,),)], [((7,),), ((8,),)]]
    with pytest.raises(AssertionError, match="Invalid profiler schedule"):
        profiler.schedule(wait=1, warmup=0, active=0)
