"""The lines below an error's first sentence, for kinds of write that the situations do not have."""

import linecache
import sys
import types

import pytest

import tinynet as tn
from tinynet import nn


@pytest.fixture
def said(tmp_path):
    """Runs a program from a file `user.py`; returns the error that it raises."""

    def run(source, **names):
        path = tmp_path / "user.py"
        path.write_text(source, encoding="utf-8")
        linecache.checkcache()
        with pytest.raises(RuntimeError) as raised:
            exec(compile(source, str(path), "exec"), {"tn": tn, "nn": nn, **names})
        return raised.value

    return run


PROGRAM = """\
b = tn.ones(3, requires_grad=True).exp()
{}
b.sum().backward()
"""
COPY = "change a copy: `b = b.clone()` before line 2"


@pytest.mark.parametrize(
    ("write", "fix"),
    [
        ("b.zero_()", f"{COPY}; or out of place: `b = zeros_like(b)`"),
        ("b.fill_(2)", f"{COPY}; or out of place: `b = full_like(b, ...)`"),
        ("b.copy_(tn.ones(3))", COPY),
        ("b.normal_()", COPY),
        ("b.clamp_(0, 1)", f"{COPY}; or out of place: `b = b.clamp(...)`"),
        ("b *= 2", f"{COPY}; or out of place: `b = b * ...`"),
        ("b **= 2", f"{COPY}; or out of place: `b = b ** ...`"),
        ("b[0] = 2", f"{COPY}; or out of place: `b = where(mask, new, b)`"),
        (
            "[b][0].add_(1)",
            "change a copy: `.clone()` the tensor before the write, or use an out-of-place form",
        ),
        (
            "c = b * b; b.add_(1); b = c",
            "change a copy: `b = b.clone()` before the write in line 2; or out of place: "
            "`b = b.add(...)`",
        ),
    ],
)
def test_the_fix_fits_the_write(said, write, fix):
    error = said(PROGRAM.format(write))
    assert error.hint == fix
    assert str(error).splitlines()[-2] == f"  fix      {fix}"
    assert str(error).splitlines()[-1] == "  explain  python -m tinynet explain inplace-saved"


def test_names_of_attributes_are_names_too(said):
    error = said("""\
class Box: pass
box = Box()
box.b = tn.ones(3, requires_grad=True).exp()
box.b += 1
box.b.sum().backward()
""")
    copy = "change a copy: `box.b = box.b.clone()` before line 4"
    assert error.hint == f"{copy}; or out of place: `box.b = box.b + ...`"


def test_writes_by_one_line_are_one_row_with_a_count(said):
    error = said("""\
b = tn.ones(3, requires_grad=True).exp()
for _ in range(3):
    b.add_(1)
b.mul_(2)
b.sum().backward()
""")
    rows = [line for line in str(error).splitlines() if line.startswith("  changed")]
    assert [row.split() for row in rows] == [
        "changed user.py:3 b.add_(1) by add_ 3 times, version 0 -> 3".split(),
        "changed user.py:4 b.mul_(2) by mul_, version 3 -> 4".split(),
    ]
    assert [where.line for where in error.changed_by] == [3, 3, 3, 4]


@pytest.mark.parametrize("writes", [8, 9, 15, 16, 17, 30])
def test_the_last_eight_writes_are_remembered_and_older_ones_counted(said, writes):
    source = PROGRAM.format("\n".join(["b.add_(1)"] * writes))
    error = said(source)
    assert [where.line for where in error.changed_by] == [*range(writes - 6, writes + 2)]
    earlier = [line for line in str(error).splitlines() if "more times" in line]
    assert earlier == ([f"  changed  {writes - 8} more times before:"] if writes > 8 else [])
    assert f"version {writes - 1} -> {writes}" in str(error)


def test_only_writes_since_the_value_was_saved_are_named(said):
    error = said("""\
a = tn.ones(3, requires_grad=True) * 1
a.add_(1)
b = a * a
a.sub_(1)
b.sum().backward()
""")
    assert "which is output 0 of SubBackward0, is at version 2; expected version 1" in str(error)
    assert [where.line for where in error.changed_by] == [4]


def test_rows_show_the_part_of_the_line_that_ran(said):
    error = said("""\
def forward(a):
    ä = [a, "ö"]; b = 1 + ä[0].exp()[0:2]
    return ä[0].exp_() if b.sum() else b


forward(tn.ones(3, requires_grad=True).sigmoid()).sum().backward()
""")
    saved, under = str(error).splitlines()[1:3]
    assert "user.py:2 in forward" in saved or "user.py:6" in saved
    assert under.strip("^ ") == ""
    assert saved[under.index("^") : under.rindex("^") + 1] == error.saved_at.expression


def test_a_call_over_several_lines_shows_its_first(said):
    error = said("""\
b = tn.exp(
    tn.ones(3, requires_grad=True)
)
tn.add(b, 1); b.add_(
    1
)
b.sum().backward()
""")
    assert error.saved_at.line == 1 and error.changed_by[0].line == 4
    assert error.changed_by[0].expression == "b.add_("
    assert error.saved_at.expression == "tn.exp("


def test_modules_and_parameters_have_their_paths(said):
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(2, 2))

        def forward(self, x):
            return self.layers(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x)

    error = said(
        """\
net = Net()
y = net(tn.ones(1, 2, requires_grad=True)).sum()
with tn.no_grad():
    net.inner.layers[0].weight.mul_(2)
y.backward()
""",
        Net=Net,
    )
    saved = next(line for line in str(error).splitlines() if line.startswith("  saved"))
    assert "(its input: Net.inner.layers.0.weight)   module Net.inner.layers.0" in saved
    assert error.hint == (
        "write to it after the backward() that needs the old values, or run the forward again "
        "after the write"
    )


def test_a_module_that_nobody_holds_goes_by_its_class(said):
    class Loose(nn.Module):
        def forward(self, x):
            y = x.exp()
            y.add_(1)
            return y

    class Net(nn.Module):
        def forward(self, x):
            return Loose.kept(x)

    Loose.kept = Loose()
    error = said("Net()(tn.ones(2, requires_grad=True)).sum().backward()\n", Net=Net)
    # Net is gone by the time of the message: the module that is left stands at the front.
    assert "module Loose" in str(error)
    net = Net()
    error = said("net(tn.ones(2, requires_grad=True)).sum().backward()\n", net=net)
    assert str(error).count("module Net.Loose") == 2


def test_freed_values_name_all_three_lines(said):
    error = said("""\
b = tn.ones(3, requires_grad=True).exp()
c = b.sum()
c.backward()
c.backward()
""")
    words = [line.split() for line in str(error).splitlines()[1:]]
    rows = [w for w in words if w[0] in ("saved", "freed", "needed")]
    assert rows == [
        "saved user.py:1 b = tn.ones(3, requires_grad=True).exp()".split(),
        "freed user.py:3 c.backward() by the first backward".split(),
        "needed user.py:4 c.backward()".split(),
    ]
    assert [error.saved_at.line, error.changed_by[0].line, error.needed_at.line] == [1, 3, 4]
    assert error.topic == "freed-graph"


@pytest.mark.parametrize(
    ("write", "form"),
    [
        ("w.add_(1)", "w = w.add(...)"),
        ("w *= 2", "w = w * ..."),
        ("w.zero_()", "w = zeros_like(w)"),
        ("w.copy_(tn.ones(3))", "w = w + ..."),
        ("w[:2].mul_(2)", "w = w + ..."),
        ("[w][0].add_(1)", "w = w + ..."),
    ],
)
def test_a_write_to_a_leaf_is_shown_out_of_place(said, write, form):
    error = said(f"w = tn.ones(3, requires_grad=True)\n{write}\n")
    assert f"To compute a new tensor: `{form}` (the result is not a leaf" in error.hint
    assert error.changed_by[0].line == 2 and error.topic == "leaf-inplace"


def test_views_that_may_not_be_written_name_where_they_were_made(said):
    error = said("""\
x = tn.ones(3, requires_grad=True) * 1
with tn.no_grad():
    view = x[:2]
part = view[0]
part.mul_(2)
""")
    words = [line.split() for line in str(error).splitlines()[1:]]
    assert "view user.py:3 view = x[:2] created here".split() in words
    assert "changed user.py:5 part.mul_(2)".split() in words
    assert error.hint == "put both lines inside the no_grad block, or both outside"


def test_code_without_source_is_told_by_its_line(said):
    with pytest.raises(RuntimeError) as raised:
        exec("b = tn.ones(2, requires_grad=True).exp()\nb.add_(1)\nb.sum().backward()", {"tn": tn})
    where = raised.value.changed_by[0]
    assert (where.filename, where.line, where.text) == ("<string>", 2, "")
    assert "  changed  <string>:2" in str(raised.value)


def test_cells_of_a_notebook_have_their_numbers(said, monkeypatch):
    """Their files are temporary ones, whose names are numbers that nobody has seen."""
    compiler = types.SimpleNamespace(
        format_code_name=lambda name: ("Cell", "In[7]") if name.endswith("user.py") else None
    )
    shell = types.SimpleNamespace(compile=compiler)
    fake = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    error = said(PROGRAM.format("b.zero_()"))
    assert (error.saved_at.place, error.changed_by[0].place) == ("In[7]:1", "In[7]:2")
    compiler.format_code_name = lambda name: None  # a file that is not a cell
    assert error.saved_at.place == "user.py:1"
    for other in (types.SimpleNamespace(get_ipython=lambda: None), types.SimpleNamespace()):
        monkeypatch.setitem(sys.modules, "IPython", other)
        assert error.saved_at.place == "user.py:1"
