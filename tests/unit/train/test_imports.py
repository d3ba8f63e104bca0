"""Classes of the user's own, from a file beside the config or a module."""

import os
import sys
from pathlib import Path

import pytest

from tinynet.train.config.user_code import Importer, NotFoundError


@pytest.fixture(autouse=True)
def modules():
    """What a test imports is forgotten after it."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def refused(importer, reference):
    with pytest.raises(NotFoundError) as caught:
        importer.find(reference)
    return str(caught.value)


def test_a_file_relative_to_the_config(tmp_path):
    write(tmp_path, net="class Net: pass")
    target, written = Importer(tmp_path).find("./net.py:Net")
    assert target.__name__ == "Net"
    assert written == f"{tmp_path / 'net.py'}:Net"
    again, _ = Importer(tmp_path / "elsewhere").find(written)
    assert again.__name__ == "Net"


def test_a_file_in_another_folder(tmp_path):
    write(tmp_path / "lib", net="class Outer:\n class Net: pass")
    target, _ = Importer(tmp_path / "configs").find("../lib/net.py:Outer.Net")
    assert target.__qualname__ == "Outer.Net"


def test_siblings_can_be_imported(tmp_path):
    write(tmp_path, net="from my_layers import width", my_layers="width = lambda: 5")
    target, _ = Importer(tmp_path).find("./net.py:width")
    assert target() == 5


def test_siblings_of_the_same_name_in_two_folders(tmp_path):
    importers = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        write(folder, net="from my_layers import width", my_layers=f"width = lambda: {number}")
        importers.append(Importer(folder))
    assert [importer.find("./net.py:width")[0]() for importer in importers] == [1, 2]


def test_a_file_runs_once_for_a_config(tmp_path):
    write(tmp_path, net="class Net: pass\nclass Data:\n net = Net")
    importer = Importer(tmp_path)
    assert importer.find("./net.py:Data")[0].net is importer.find("./net.py:Net")[0]


def test_a_file_that_has_changed_is_read_again(tmp_path):
    for width in (5, 1234):
        write(tmp_path, net=f"width = lambda: {width}")
        assert Importer(tmp_path).find("./net.py:width")[0]() == width


def test_dataclasses_and_annotations_work(tmp_path):
    text = (
        "from __future__ import annotations\n"
        "import dataclasses, typing\n"
        "@dataclasses.dataclass\nclass Net:\n    width: typing.ClassVar[int] = 1\n    x: int = 2"
    )
    write(tmp_path, net=text)
    assert Importer(tmp_path).find("./net.py:Net")[0]().x == 2


def test_a_module_beside_the_config(tmp_path):
    write(tmp_path / "my_package", __init__="", my_module="class Net: pass")
    importer = Importer(tmp_path)
    target, written = importer.find("my_package.my_module:Net")
    assert target.__module__ == "my_package.my_module"
    assert written == "my_package.my_module:Net"
    assert importer.used_modules


def test_a_module_in_the_working_directory(tmp_path, monkeypatch):
    write(tmp_path / "here", my_cwd_module="class Net: pass")
    monkeypatch.chdir(tmp_path / "here")
    target, _ = Importer(tmp_path / "configs").find("my_cwd_module:Net")
    assert target.__name__ == "Net"


def test_an_installed_module():
    assert Importer(Path("/")).find("collections:OrderedDict")[0].__name__ == "OrderedDict"


def test_two_modules_of_one_name_are_not_confused(tmp_path):
    for number in (1, 2):
        write(tmp_path / str(number), my_model=f"number = lambda: {number}")
    assert Importer(tmp_path / "1").find("my_model:number")[0]() == 1
    message = refused(Importer(tmp_path / "2"), "my_model:number")
    assert "module 'my_model' has already been imported from" in message
    assert "name it by its file, such as ./my_model.py:Name" in message


def test_the_path_is_as_it_was(tmp_path):
    write(tmp_path, net="import sys\nsys.path.append('the-users-own')\nNet = print", bad="1/0")
    before, folder = list(sys.path), os.getcwd()
    Importer(tmp_path).find("./net.py:Net")
    assert sys.path == [*before, "the-users-own"]
    refused(Importer(tmp_path), "./bad.py:Net")
    assert sys.path == [*before, "the-users-own"]
    assert os.getcwd() == folder
    sys.path.remove("the-users-own")


# ---- what goes wrong ----


def test_no_such_file(tmp_path):
    write(tmp_path, network="")
    message = refused(Importer(tmp_path), "./netwrk.py:Net")
    assert message == (
        f"there is no file ./netwrk.py; did you mean network.py? Tried: {tmp_path / 'netwrk.py'}"
    )


def test_no_such_module(tmp_path):
    message = refused(Importer(tmp_path, ["extra"]), "no_such_package.module:Net")
    assert message.startswith("there is no module 'no_such_package'. Tried these folders")
    for folder in (os.getcwd(), str(tmp_path), os.path.abspath("extra")):
        assert folder in message


def test_no_such_name(tmp_path):
    write(tmp_path, net="from collections import OrderedDict\nclass Network: pass")
    message = refused(Importer(tmp_path), "./net.py:Netwrk")
    assert message == ("./net.py has no 'Netwrk'; did you mean 'Network'? It defines: Network")


@pytest.mark.parametrize("reference", [":Net", "net.py:", "a b:Net", "..x:Net"])
def test_no_reference(tmp_path, reference):
    assert "package.module:Name" in refused(Importer(tmp_path), reference)


def test_a_syntax_error_shows_the_line(tmp_path):
    write(tmp_path, net="x = 1\nclass Net(:\n    pass")
    message = refused(Importer(tmp_path), "./net.py:Net")
    lines = message.splitlines()
    assert lines[0] == "importing ./net.py failed"
    assert lines[1] == f'    File "{tmp_path / "net.py"}", line 2'
    assert lines[2].strip() == "class Net(:"
    assert "SyntaxError" in lines[-1]


def test_an_error_shows_the_users_lines_and_not_ours(tmp_path):
    write(tmp_path, net="import my_helper", my_helper="def f():\n    return 1 / 0\nf()")
    message = refused(Importer(tmp_path), "./net.py:Net")
    assert "net.py" in message
    assert "my_helper.py" in message
    assert "return 1 / 0" in message
    assert message.splitlines()[-1] == "  ZeroDivisionError: division by zero"
    assert "imports.py" not in message
    assert "importlib" not in message


def test_a_missing_dependency_of_the_users_module(tmp_path):
    write(tmp_path, my_net="import no_such_dependency")
    message = refused(Importer(tmp_path), "my_net:Net")
    assert message.splitlines()[0] == "importing my_net failed"
    assert "No module named 'no_such_dependency'" in message


def test_a_script_that_exits(tmp_path):
    write(tmp_path, net="raise SystemExit(3)")
    assert "SystemExit: 3" in refused(Importer(tmp_path), "./net.py:Net")


def test_a_failed_file_leaves_no_module(tmp_path):
    write(tmp_path, net="1/0")
    before = set(sys.modules)
    refused(Importer(tmp_path), "./net.py:Net")
    assert set(sys.modules) == before
