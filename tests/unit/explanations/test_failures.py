"""What an error of a layer says, and the lines of its traceback."""

import linecache
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import pytest

import tinynet as tn
from tinynet import nn, optim
from tinynet.core.explanations import display
from tinynet.core.explanations.failures import SWITCH, entries_of, is_ours
from tinynet.data import DataLoader
from tinynet.nn import functional as F

MODEL = """\
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = nn.Parameter(tn.ones(n))
    def forward(self, x):
        return x * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(), nn.Linear(16, 10))
        self.blocks = nn.ModuleList([Block(32), Block(7)])
    def forward(self, x):
        if x.ndim == 3:
            for block in self.blocks:
                x = block(x)
        return self.net(x)


model = Net()
"""


@pytest.fixture
def raised(tmp_path):
    """Runs a program from a file `user.py`; returns the error that it raises."""

    def run(source, **names):
        path = tmp_path / "user.py"
        path.write_text(source, encoding="utf-8")
        linecache.checkcache()
        names = {"tn": tn, "nn": nn, "F": F, "optim": optim, "DataLoader": DataLoader, **names}
        with pytest.raises(Exception) as caught:
            exec(compile(source, str(path), "exec"), names)
        return caught.value

    return run


def lines_of(error):
    """The labelled lines of a message: label -> the rest of its line."""
    rows = [line for line in str(error).splitlines()[1:] if line[:2] == "  " and line[2] != " "]
    return {row[2:10].strip(): row[11:].strip() for row in rows if row[10:11] == " "}


def last_line(error):
    return traceback.extract_tb(error.__traceback__)[-1].line


def ours_in(error):
    return [entry for entry in entries_of(error) if is_ours(entry)]


def test_the_layer_is_named_with_its_path_and_repr(raised):
    error = raised(f"{MODEL}model(tn.zeros(8, 8))\n")
    assert type(error) is RuntimeError
    first = str(error).splitlines()[0]
    assert first == "mat1 and mat2 shapes cannot be multiplied (8x32 and 16x10)"
    lines = lines_of(error)
    assert lines["layer"] == ("model.net.3 Linear(in_features=16, out_features=10, bias=True)")
    assert lines["line"].split() == "user.py:18 in forward return self.net(x)".split()
    assert lines["got"] == "input float32 [8, 32]"
    assert lines["expects"] == "float32 [..., 16]"
    assert lines["fix"] == (
        "make the layer with `in_features=32`, or the last dimension of its input 16"
    )
    assert not ours_in(error)
    names = [entry.tb_frame.f_code.co_name for entry in entries_of(error)][1:]
    assert names == ["<module>", "forward"]


def test_an_operation_in_a_users_module_names_the_module_and_what_the_operation_got(raised):
    lines = lines_of(raised(f"{MODEL}model(tn.zeros(8, 8, 32))\n"))
    assert lines["layer"] == "model.blocks.1 Block()"
    assert lines["line"].split() == "user.py:6 in forward return x * self.scale".split()
    assert lines["got"] == "self float32 [8, 8, 32], other float32 [7]"


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ("net(x)", "net.1 "),
        ("nn.Sequential(net)(x)", "Sequential.0.1 "),
        ("holder.net(x)", "holder.net.1 "),
        ("[net][0](x)", "Sequential.1 "),
        ("tn.compile(net)(x)", "Sequential.1 "),
        ("compiled(x)", "compiled.1 "),
        ("[*map(net, [x])]", "Sequential.1 "),
    ],
)
def test_the_path_begins_with_the_users_name_of_the_model(raised, call, path):
    error = raised(f"""\
import types
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 4))
holder, compiled, x = types.SimpleNamespace(net=net), tn.compile(net), tn.ones(2, 3)
{call}
""")
    assert lines_of(error)["layer"].startswith(f"{path}Linear(in_features=3")
    assert len(entries_of(error)) == 2 and not ours_in(error)


def table():
    """Layer -> (the shape that it gets, what it expects, the fix or "")."""
    rows = Path(__file__).with_name("shapes.txt").read_text(encoding="utf-8").split("\n\n")
    for layer, *lines in (row.strip().splitlines() for row in rows[1:]):
        entries = dict(line.strip().split(": ", 1) for line in lines)
        shape = [int(n) for n in entries["got"].split(", ")]
        yield layer, shape, entries["expects"], entries.get("fix", "")


SHAPES = [*table()]


@pytest.mark.parametrize(("layer", "shape", "expects", "fix"), SHAPES, ids=[s[0] for s in SHAPES])
def test_layers_say_what_they_expect_and_how_to_get_it(raised, layer, shape, expects, fix):
    error = raised(f"layer = {layer}\nlayer(tn.zeros({shape}))\n")
    lines = lines_of(error)
    assert lines["layer"].startswith("layer ") and lines["got"].endswith(f"float32 {[*shape]}")
    assert lines["expects"].removeprefix("float32 ") == expects
    assert lines.get("fix", "") == fix
    assert not ours_in(error)


@pytest.mark.parametrize(("layer", "shape", "expects", "fix"), SHAPES, ids=[s[0] for s in SHAPES])
def test_the_fix_leads_to_a_shape_that_the_layer_takes(layer, shape, expects, fix):
    x, names = tn.zeros(shape), {"nn": nn}
    option = fix.partition("with `")[2].partition("`")[0]
    if option:
        kind, inside = layer.split("(", 1)
        name, value = option.split("=")
        code = eval(kind, names).__init__.__code__
        position = code.co_varnames.index(name) - 1
        arguments = [a.strip() for a in inside[:-1].split(",")]
        arguments[position] = value
        eval(f"{kind}({', '.join(arguments)})", names)(x)
    elif fix:
        change = fix.partition("`")[2].partition("`")[0]
        eval(layer, names)(eval(change, {"x": x}))


def test_dtypes_differ(raised):
    error = raised("fc = nn.Linear(3, 4)\nfc(tn.ones(2, 3, dtype=tn.float64))\n")
    lines = lines_of(error)
    assert (lines["got"], lines["expects"]) == ("input float64 [2, 3]", "float32 [..., 3]")
    assert "`x.float()`" in lines["fix"] and str(error).splitlines()[-1].startswith("  fix ")


def test_an_array_in_place_of_a_tensor(raised):
    error = raised("import numpy as np\nnn.Linear(3, 4)(np.ones((2, 3)))\n")
    lines = lines_of(error)
    assert type(error) is TypeError and lines["got"] == "input numpy float64 [2, 3]"
    assert lines["fix"] == "make a tensor of the array: `tn.from_numpy(x).float()`"


@pytest.mark.parametrize(
    "call",
    [
        "F.linear(np.ones((2, 3)), tn.ones(4, 3))",
        "F.cross_entropy(np.ones((2, 3)), tn.tensor([0, 1]))",
        "F.relu(np.ones(3))",
        "F.conv2d(np.ones((1, 1, 4, 4)), tn.ones(1, 1, 2, 2))",
        "F.max_pool2d(np.ones((1, 1, 4, 4)), 2)",
        "tn.matmul(np.ones((2, 3)), tn.ones(3, 2))",
        "tn.cat([np.ones(3), np.ones(3)])",
        "tn.einsum('i,i', np.ones(3), tn.ones(3))",
        "nn.utils.rnn.pad_sequence([np.ones(3)])",
    ],
)
def test_an_array_given_to_a_function(raised, call):
    error = raised(f"import numpy as np\n{call}\n")
    assert lines_of(error)["fix"] == "make a tensor of the array: `tn.from_numpy(x).float()`"


def test_arguments_that_do_not_fit_forward(raised):
    error = raised("fc = nn.Linear(3, 4)\nfc(tn.ones(3), tn.ones(3))\n")
    first = "Linear.forward() takes 2 positional arguments but 3 were given"
    assert (type(error), str(error).splitlines()[0]) == (TypeError, first)
    assert lines_of(error)["layer"].startswith("fc Linear(") and not ours_in(error)


def test_a_users_own_error_keeps_its_message(raised):
    error = raised("""\
class Net(nn.Module):
    def forward(self, x):
        raise ValueError("mine")
nn.Sequential(Net())(tn.ones(2))
""")
    assert str(error) == "mine" and len(entries_of(error)) == 3 and not ours_in(error)


def test_an_error_that_tinynet_does_not_intend_keeps_all_frames(raised, monkeypatch):
    def broken(*args):
        return [][1]

    monkeypatch.setattr(nn.Linear, "forward", broken)
    broken.__code__ = broken.__code__.replace(co_filename=nn.Linear.__init__.__code__.co_filename)
    error = raised("nn.Linear(3, 4)(tn.ones(3))\n")
    assert str(error) == "list index out of range" and len(ours_in(error)) == 2


def test_all_frames_can_be_seen(raised, monkeypatch):
    monkeypatch.setenv(SWITCH, "full")
    error = raised("nn.Linear(3, 4)(tn.ones(2))\n")
    assert len(ours_in(error)) > 2 and lines_of(error)["got"] == "input float32 [2]"


def test_an_error_that_the_user_handles_costs_no_frame(raised):
    error = raised("""\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
    def forward(self, x):
        try:
            self.fc(x)
        except RuntimeError as error:
            assert "layer" not in str(error)
        return self.fc(x)
Net()(tn.ones(2))
""")
    assert lines_of(error)["layer"].startswith("Net.fc Linear(")


def test_a_module_whose_repr_fails_is_no_obstacle(raised):
    error = raised("""\
class Net(nn.Module):
    def forward(self, x):
        return x @ x
    def __repr__(self):
        return [][1]
Net()(tn.ones(2, 3))
""")
    assert str(error) == "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
    assert not ours_in(error)


# ---- compiled functions, backward passes, optimizers, workers -----------------------------------

STEP = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.fc = nn.Embedding(5, 4), nn.Linear(4, 3)
    def forward(self, x):
        return self.fc(self.emb(x))
net = Net()
def step(x, y):
    out = net(x)
    return F.cross_entropy(out, y)
step = tn.compile(step{options})
x, y = tn.tensor([0, 1]), tn.tensor([0, 1])
for _ in range({times}):
    step(x, y)
step({wrong})
"""


@pytest.mark.parametrize("times", [0, 1, 4, 9])
@pytest.mark.parametrize("options", ["", ", verify=1"])
def test_errors_in_compiled_functions_are_those_of_eager_ones(raised, times, options):
    program = STEP.format(times=times, options=options, wrong="tn.tensor([0, 7]), y")
    error = raised(program)
    assert str(error).startswith("index out of range in self") and type(error) is IndexError
    lines = lines_of(error)
    assert lines["layer"] in ("net.emb Embedding(5, 4)", "Net.emb Embedding(5, 4)")
    assert lines["line"].split() == "user.py:6 in forward return self.fc(self.emb(x))".split()
    assert lines["got"].endswith("int64 [2]")
    assert not ours_in(error)


@pytest.mark.parametrize("times", [0, 1, 4, 9])
def test_a_replay_names_the_line_of_the_capture(raised, times):
    error = raised(STEP.format(times=times, options="", wrong="x, tn.tensor([0, 9])"))
    assert str(error).startswith("Target 9 is out of bounds.") and not ours_in(error)
    shown = lines_of(error).get("line", "user.py:10 in step " + last_line(error))
    assert shown.split() == "user.py:10 in step return F.cross_entropy(out, y)".split()


CUSTOM = """
class Square(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.reshape(7)

class Net(nn.Module):
    def forward(self, x):
        return Square.apply(x)

net = nn.Sequential(nn.Linear(3, 2), Net())
net(tn.ones(4, 3)).sum().backward()
"""


def test_the_backward_of_a_function_of_the_user(raised):
    error = raised(CUSTOM)
    lines = lines_of(error)
    assert str(error).startswith("shape '[7]' is invalid for input of size 8\n")
    assert lines["layer"].endswith(".1 Net()")
    assert lines["forward"].startswith("user.py:15 in forward")
    assert lines["got"] == "input float32 [4, 2]"
    assert last_line(error) == "return g * x.reshape(7)"


def test_a_backward_pass_names_the_forward_line(raised):
    error = raised("""\
class Square(tn.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
    @staticmethod
    def backward(ctx, g):
        return g[:2]
class Net(nn.Module):
    def forward(self, x):
        return Square.apply(x)
loss = nn.Sequential(Net())(tn.ones(4, requires_grad=True)).sum()
loss.backward()
""")
    assert str(error).splitlines()[0] == (
        "Function SquareBackward returned an invalid gradient at index 0 - got [2] but expected "
        "shape compatible with [4]"
    )
    assert lines_of(error)["forward"].startswith("user.py:10 in forward") and not ours_in(error)


@pytest.mark.parametrize(
    "program",
    [
        "w = tn.ones(3, requires_grad=True)\n(w * 2).backward(tn.ones(2))\n",
        "w = tn.ones(3, requires_grad=True)\n(w * 2).backward()\n",
        "w = tn.ones(3, requires_grad=True).exp()\nw.add_(1)\nw.sum().backward()\n",
        "tn.autograd.backward([tn.ones(3)])\n",
        "w = nn.Parameter(tn.ones(3))\nw.grad = tn.ones(3)\noptim.SparseAdam([w]).step()\n",
    ],
)
def test_other_ways_out_of_tinynet_are_folded_too(raised, program):
    assert not ours_in(raised(program))


def test_the_traceback_of_a_worker_is_folded(raised):
    error = raised("""\
class Data:
    def __len__(self): return 2
    def __getitem__(self, i): return tn.ones(2, 3) @ tn.ones(2, 3)
[*DataLoader(Data(), num_workers=1)]
""")
    original = str(error).partition("Original ")[2]
    assert "mat1 and mat2 shapes cannot be multiplied" in original
    assert original.count("File ") == 1 and "user.py" in original


# ---- what is shown ------------------------------------------------------------------------------


def shown(tmp_path, program):
    path = tmp_path / "user.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    command = [sys.executable, "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    return done.stderr


HEAD = "import threading\nimport tinynet as tn\nfrom tinynet import nn\nx = tn.ones(2, 3)\n"


@pytest.mark.parametrize(
    ("call", "last"),
    [
        ("x + tn.ones(4)", "  got      self float32 [2, 3], other float32 [4]"),
        ("x @ x", "  got      self float32 [2, 3], other float32 [2, 3]"),
        (
            "nn.functional.cross_entropy(x, x[0, 0], label_smooth=1)",
            "did you mean 'label_smoothing'?",
        ),
        ("tn.zeros(2, dtyp=tn.int64)", "did you mean 'dtype'?"),
        ("nn.Linear(3, 3).weigth", "Did you mean: 'weight'?"),
        ("tn.load('no.pt')", "  fix      there is no 'no.pt' in {folder}"),
        ("threading.Thread(target=lambda: x @ x).start()", "other float32 [2, 3]"),
    ],
)
def test_an_uncaught_error_shows_the_users_lines(tmp_path, call, last):
    text = shown(tmp_path, f"{HEAD}{call}\n")
    package = display.__file__.partition("explanations")[0]
    assert package not in text and "<tinynet" not in text
    end = text.rstrip().replace("Did you mean '", "did you mean '")  # Python 3.13 asks it, too
    assert end.endswith(last.format(folder=tmp_path))
    assert f"line 5, in {'<lambda>' if 'Thread' in call else '<module>'}" in text


def test_the_errors_that_an_error_is_shown_with_are_folded_too(tmp_path):
    text = shown(tmp_path, f"{HEAD}try:\n    x @ x\nexcept RuntimeError:\n    raise ValueError\n")
    assert text.count("File ") == 2 and text.count("got      self") == 1


def test_the_hooks_of_others_still_run(tmp_path):
    text = shown(
        tmp_path,
        """\
        import sys
        def hook(kind, error, traceback):
            print("hook", kind.__name__, traceback.tb_next, file=sys.stderr)
        sys.excepthook = hook
        import tinynet as tn
        tn.ones(2, 3) @ tn.ones(2, 3)
        """,
    )
    assert text == "hook RuntimeError None\n"


def test_an_interrupt_is_shown_as_it_is(tmp_path):
    text = shown(tmp_path, "import tinynet\nraise KeyboardInterrupt\n")
    assert text.rstrip().endswith("KeyboardInterrupt")


@pytest.fixture
def shell():
    """IPython's shell, if it is installed, with tinynet's way to show errors."""
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    made = interactive.InteractiveShell.instance(colors="nocolor")
    made.set_custom_exc((Exception,), display.show_in_shell)
    made.user_ns.update(tn=tn, nn=nn)
    yield made
    interactive.InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("nn.Sequential(nn.Linear(3, 2))(tn.ones(4))", "Sequential.0 Linear"),
        (
            "w = tn.ones(3, requires_grad=True).exp(); w.add_(1); w.sum().backward()",
            "is at version 1",
        ),
        ("tn.ones(2, 3) @ tn.ones(4, 5)", "got      self float32 [2, 3]"),
    ],
)
def test_a_notebook_shows_the_users_lines_and_whole_words(shell, capsys, cell, words):
    result = shell.run_cell(cell)
    assert isinstance(result.error_in_exec, RuntimeError)
    text = capsys.readouterr().out
    frames, start, message = text.partition("\nRuntimeError: ")
    message = start.strip() + " " + message
    assert words in " ".join(message.split()).replace("got ", "got      ")
    assert frames.count("In[1]") == 1 and "/tinynet/" not in text
    assert max(map(len, message.splitlines())) <= display.WIDTH
    joined, original = "".join(message.split()), "".join(str(result.error_in_exec).split())
    assert original.replace("^", "") in joined.replace("^", "")


def test_a_notebook_shows_other_errors_as_before(shell, capsys):
    shell.run_cell("1 / 0")
    text = capsys.readouterr().out
    assert "ZeroDivisionError: division by zero" in text and "----> 1 1 / 0" in text
    shell.run_cell("x = (")
    shown_error = capsys.readouterr().out
    assert "SyntaxError" in shown_error or "_IncompleteInputError" in shown_error  # from 3.13 on
