"""Machine code: LLVM compiles a module for this processor, and Python gets its function."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

import numpy as np

from tinynet.kernels.llvm.entry import NAME

_FASTCALL = 0x80
WIDE = ",-prefer-256-bit"  # so that LLVM uses vectors of 512 bits: exp takes two thirds of the time


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]  # fmt: skip


_FUNCTIONS = (
    "PyBool_FromLong", "PyErr_Clear", "PyErr_NoMemory", "PyErr_Occurred", "PyEval_RestoreThread",
    "PyEval_SaveThread", "PyFloat_AsDouble", "PyFloat_FromDouble", "PyLong_AsLongLong",
    "PyLong_FromLongLong", "PyMem_RawFree", "PyMem_RawMalloc", "PyObject_IsTrue", "Py_IncRef",
)  # fmt: skip


@functools.cache
def binding() -> Any:
    """Return llvmlite's binding of LLVM, which knows the functions of Python."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    api = ctypes.pythonapi
    for name in _FUNCTIONS:
        binding.add_symbol(name, ctypes.cast(getattr(api, name), ctypes.c_void_p).value)
    for name, thing in (("_Py_NoneStruct", None), ("_Py_NotImplementedStruct", NotImplemented)):
        binding.add_symbol(name, id(thing))
    binding.add_symbol("tinynet_ndarray", id(np.ndarray))
    return binding


def add_symbol(name: str, pointer: Any) -> None:
    """Make a C function, or what a pointer of ctypes points to, known by a name."""
    binding().add_symbol(name, ctypes.cast(pointer, ctypes.c_void_p).value)


@functools.cache
def processor() -> tuple[str, str]:
    """Return LLVM's name of the processor, or ``TINYNET_CPU``, and what it has beyond its name."""
    llvm, named = binding(), os.environ.get("TINYNET_CPU")
    if named:
        return named, ""
    features = llvm.get_host_cpu_features().flatten()
    return llvm.get_host_cpu_name(), features + (WIDE if "+avx512f" in features else "")


def version() -> str:
    """Return the version of llvmlite."""
    from llvmlite import __version__

    return str(__version__)


def _target() -> Any:
    llvm, (name, features) = binding(), processor()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=name, features=features, opt=3, reloc="pic", codemodel="jitdefault"
    )


def machine_code(text: str) -> bytes:
    """Compile a module, given in LLVM's language."""
    llvm, target = binding(), _target()
    module = llvm.parse_assembly(text)
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)  # 3 takes up to ten times as long
    tuning.loop_vectorization = True
    tuning.slp_vectorization = True
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(module, passes)
    return target.emit_object(module)


class Loaded:
    """Machine code in memory.

    Args:
        code: machine code with an entry, see ``entry.py``.
        title: its name for people.
    """

    def __init__(self, code: bytes, title: str):
        llvm, target = binding(), _target()  # which the engine will own
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        address = self._engine.get_function_address(NAME)
        self._method = _Method(title.encode(), address, _FASTCALL, None)

    def function(self) -> Any:
        """Return the Python function that calls the code; it keeps this object."""
        return _made(ctypes.addressof(self._method), self, None)


_made = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)
