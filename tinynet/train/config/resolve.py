"""Checking a tree of values and turning it into a config; reports all mistakes at once."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import isclass
from pathlib import Path
from typing import Any

from tinynet.core.explanations.arguments import aliased, nearest
from tinynet.optim.lr_scheduler import ReduceLROnPlateau
from tinynet.train.base.problems import Origin, Problems, did_you_mean, of_section, one_of, sentence
from tinynet.train.config import components
from tinynet.train.config.coercion import (
    MismatchError,
    accepts_functions,
    accepts_paths,
    anchored,
    coerce,
    describe_type,
    is_mapping,
)
from tinynet.train.config.components import EVERY, FAMILIES, OWN_METRIC, Family, composed, inside
from tinynet.train.config.document import KeyPath, Source, dotted, override, toml_value
from tinynet.train.config.inheritance import read_with_bases
from tinynet.train.config.rules import follows_run, not_sensible, not_usable, or_share, refusal_of
from tinynet.train.config.sections import (
    LEFT_OUT,
    NAMED,
    SECTIONS,
    Config,
    DataSection,
    RunSection,
    field_docs,
    settings,
)
from tinynet.train.config.signatures import (
    Component,
    Parameter,
    Signature,
    field_types,
    signature_of,
)
from tinynet.train.config.user_code import (
    GRAMMAR,
    NO_STAND_INS,
    Importer,
    NotFoundError,
    StandIns,
    of_stored_config,
)

# ---- suggestions --------------------------------------------------------------------------------
# Suggestions for unknown keys, which may stand in the wrong section.


def hint_for(key: str, known: Iterable[str], tree: Mapping[str, Any], where: str = "") -> str:
    """Return a suggestion for an unknown key, or ``""``.

    Args:
        key: the key.
        known: the keys that could stand in its place.
        tree: the config.
        where: the section that has the key; empty for none.

    Example:
        >>> hint_for("epochs", ["lr", "eps"], {}, "optimizer")
        "; did you mean 'run.epochs'?"
        >>> hint_for("learning_rate", ["lr", "eps"], {}, "optimizer")
        "; did you mean 'lr'?"
    """
    elsewhere: dict[str, set[str]] = {}
    for name, section in SECTIONS.items():
        table = tree.get(name)
        if name != where:
            elsewhere[name] = {*settings(section), *(table if isinstance(table, dict) else ())}
    exact = [f"{name}.{key}" for name, keys in elsewhere.items() if key in keys]
    near = "" if exact else did_you_mean(key, known)
    places = exact or [f"{n}.{one}" for n, keys in elsewhere.items() for one in aliased(key, keys)]
    listed = " or ".join(map(repr, places))
    return near or (f"; did you mean {listed}?" if places else "")


# ---- resolve ------------------------------------------------------------------------------------


def load_config(
    path: str | Path,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    out: str | Path | None = None,
    stand_ins: StandIns | None = None,
) -> Config:
    """Load a config, and check it against the signatures of all types in it.

    Args:
        path: the file.
        overrides: ``"optimizer.lr=3e-4"`` strings, or a mapping from such paths to values.
        out: overrides ``run.out``.
        stand_ins: copies to import in place of the user's files; by default, for the config in a
            run folder, its copies of changed or missing files.

    Raises:
        ConfigError: if the config has mistakes; lists all of them with their lines.

    Example:
        >>> from tinynet.train import load_config
        >>> config = load_config("configs/digits_mlp.toml", {"run.epochs": 3})
        >>> config.run.epochs, str(config.origin("run.epochs"))
        (3, 'overrides')
    """
    if stand_ins is None:
        stand_ins = of_stored_config(Path(path))
    return resolve(read_with_bases(path), overrides, out=out, stand_ins=stand_ins)


def resolve(
    source: Source,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    *,
    out: str | Path | None = None,
    stand_ins: StandIns = NO_STAND_INS,
) -> Config:
    """Resolve a source to a config, with the arguments and errors of `load_config`."""
    problems = Problems()
    override(source, overrides, problems)
    if out is not None:
        override(source, {"run.out": str(out)}, problems)
        source.origins["run", "out"] = Origin("command line")
    expand_short_forms(source)
    return _Resolver(source, problems, stand_ins).checked_config()


class _Resolver:
    """Resolves the sections of a source; each method returns None after a mistake."""

    def __init__(self, source: Source, problems: Problems, stand_ins: StandIns) -> None:
        self.source = source
        self.problems = problems
        self.stand_ins = stand_ins
        self.folders = list(dict.fromkeys([source.folder, *source.folders.values()]))
        run = source.tree.get("run")
        listed = run.get("path") if isinstance(run, dict) else None
        path = [p for p in listed if isinstance(p, str)] if isinstance(listed, list) else []
        searched = [*map(str, self.folders), *path]
        self.importer = Importer(source.folder, searched, stand_ins)
        self.suggested: set[str | None] = set()  # by misspelled section names

    def checked_config(self) -> Config:
        tree = self.source.tree
        for name in tree.keys() - SECTIONS.keys():
            self.suggested.add(nearest(name, SECTIONS))
            hint = hint_for(name, SECTIONS, tree) or "."
            self.problem((name,), f"unknown section{hint} There are: {one_of(SECTIONS)}")
        run = limited(self.section("run"), tree.get("run"))
        sections = {name: self.section(name) for name in SECTIONS if name != "run"}
        for key, text in components.undirected(sections["evaluation"]):
            self.problem(("evaluation", key), text)
        for path, text in contradictions(run, sections):
            self.problem(path, text)
        self.problems.raise_if_any()
        sections["schedule"] = components.directed(sections["schedule"], sections["evaluation"])
        sections["data"] = by_default(sections, self.source.origins)
        assert isinstance(run, RunSection)
        weights = run.init_from and str(Path(run.init_from).resolve())
        name = run.name or Path(self.source.file).stem
        own: dict[str, Any] = {"name": name, "init_from": weights}
        if self.importer.used_modules:
            # The stored config must find them from its folder.
            resolved = [str(folder.resolve()) for folder in self.folders]
            copies = self.stand_ins.folders if self.stand_ins.renamed else []
            own["path"] = tuple(dict.fromkeys([*copies, *run.path, *resolved]))
        run = dataclasses.replace(run, **own)
        origins = {dotted(path): o for path, o in self.source.origins.items()}
        file, sources = self.source.file, self.importer.sources()
        return Config(run=run, **sections, file=file, sources=sources, origins=origins)

    def section(self, name: str) -> Any:
        """Return a section as an instance of its dataclass."""
        cls, family = SECTIONS[name], FAMILIES.get(name)
        if name not in self.source.tree:
            return self.left_out(name)
        table = self.source.tree[name]
        if not isinstance(table, dict):
            return self.problem((name,), f"must be a table [{name}], got {table!r}")
        own = settings(cls)
        values = {key: self.setting(cls, (name, key), table[key]) for key in own if key in table}
        rest = {key: value for key, value in table.items() if key not in own}
        has_tables = "type" not in table and any(isinstance(v, dict) for v in rest.values())
        if name in NAMED and has_tables:
            return self.named(name, rest, values)
        if family is not None:
            component = self.component((name,), rest, family, also=own)
            return None if component is None else cls(component=component, **values)
        for key in rest:
            hint = hint_for(key, own, self.source.tree, name) or "."
            self.problem((name, key), f"unknown key{hint} {of_section(name, own)}")
        return cls(**values)

    def named(self, name: str, tables: dict[str, Any], shared: dict[str, Any]) -> Any:
        """Return a section with a table per optimizer, and their shared values."""
        cls, family, named = SECTIONS[name], FAMILIES[name], {}
        own = [key for key in settings(cls) if key != "accumulate"]
        for key, table in tables.items():
            path = (name, key)
            if not isinstance(table, dict):
                self.problem(path, f"unknown key beside tables of its own. {of_section(name, own)}")
                continue
            values = {k: self.setting(cls, (*path, k), table[k]) for k in own if k in table}
            rest = {k: value for k, value in table.items() if k not in own}
            component = self.component(path, rest, family, also=own)
            if component is not None:
                named[key] = cls(component=component, **(shared | values))
        return cls(component=None, named=named, **shared)

    def left_out(self, name: str) -> Any:
        if name in LEFT_OUT:
            return LEFT_OUT[name]()
        if name in self.suggested:  # the misspelled name has been reported
            return None
        names = FAMILIES[name].some_names()
        return self.problem((name,), f"section [{name}] is missing; its type can be: {names}")

    def setting(self, cls: type, path: tuple[str, ...], given: Any) -> Any:
        """Return the value of a section's own key."""
        key = path[-1]
        metadata = settings(cls)[key].metadata
        declared = float if "or" in metadata else field_types(cls)[key]

        def refuse(text: str) -> None:
            self.problem(path, f"{text} {field_docs(cls)[key]}")

        if "own" in metadata and isinstance(given, list | tuple):
            return self.metrics(path, given, refuse)
        if "or" in metadata and isinstance(given, dict):
            return self.component(path, given, EVERY[metadata["or"]])
        if "family" in metadata:
            if (tables := components.as_tables(given)) is None:
                return refuse(f"must be a list of types or tables, got {given!r}.")
            family = EVERY[metadata["family"]]
            return tuple(self.component((*path, i), item, family) for i, item in enumerate(tables))
        try:
            value = coerce(given, declared, self.source.texts.get(path))
        except MismatchError as mismatch:
            return refuse(sentence(str(mismatch)))
        unusable = "" if key == "seed" else not_usable(value)
        if unusable:
            return refuse(f"{unusable}, got {value!r}.")
        own = "is_figure" in metadata and components.is_own_figure(value, self.source.tree)
        if metadata and not own and not metadata["holds"](value):
            return refuse(refusal_of(metadata, value))
        return value

    def metrics(
        self, path: tuple[str, ...], given: Sequence[Any], refuse: Callable[[str], Any]
    ) -> tuple[str | Component | None, ...] | None:
        """Return a list of metrics: names, and components for the user's own."""
        text = components.problem_with(given)
        if text:
            return refuse(text)
        return tuple(
            item if isinstance(item, str) else self.component((*path, i), item, OWN_METRIC)
            for i, item in enumerate(map(components.as_table, given))
        )

    def component(
        self, path: KeyPath, table: dict[str, Any], family: Family, also: Iterable[str] = ()
    ) -> Component | None:
        """Return the component of a table with a ``type``.

        Args:
            also: other keys of the table, for suggestions.
        """
        found = self.target(path, table, family)
        if found is None:
            return None
        target, name = found
        try:
            given = family.given_to(target)
            is_called = family.calls(target)
            signature = signature_of(target, given) if is_called else Signature({}, False)
        except ValueError as error:
            return self.problem((*path, "type"), str(error))
        takes = frozenset(signature.parameters)
        known = {n: p for n, p in signature.parameters.items() if n not in family.hidden}
        signature = Signature(known, signature.open)
        arguments: dict[str, Any] = {}
        written: dict[str, Any] = {"type": name}
        before = len(self.problems)
        for key in [key for key in table if key != "type"]:
            if self.check_known((*path, key), key, signature, table["type"], family, also):
                declared = known[key].declared if key in known else Any
                type_ = or_share(key, declared) if family.lasts else declared
                value = self.argument((*path, key), table[key], type_, inside(family, declared))
                arguments[key], written[key] = value
                if key in known and family.rates and ":" not in name:
                    self.check_sensible((*path, key), value[0], known[key])
        for parameter in [p for p in known.values() if p.name not in table]:
            follows = family.lasts and follows_run(parameter, name)
            if not follows:
                self.use_default(path, parameter, table["type"], signature)
            written[parameter.name] = None if follows else parameter.default
        if len(self.problems) > before:
            return None
        return Component(dotted(path), name, target, arguments, written, takes, given, is_called)

    def check_sensible(self, path: KeyPath, value: Any, parameter: Parameter) -> None:
        objection = not_sensible(value, parameter.default)
        if objection:
            self.problem(path, f"{objection}, got {value!r}")

    def target(
        self, path: KeyPath, table: dict[str, Any], family: Family
    ) -> tuple[Any, str] | None:
        """Return the class or function of the ``type`` of a table, and the name to store."""
        names = family.names()
        name = table.get("type")
        if name is None:
            return self.problem(path, f"type is missing; it can be: {family.some_names()}")
        if not isinstance(name, str):
            return self.problem((*path, "type"), f"must be a string, got {name!r}")
        if name in names:
            return names[name], name
        if name.endswith(".py"):
            return self.problem(
                (*path, "type"),
                self.importer.without_a_name(name, self.source.folder_of(*path, "type")),
            )
        if ":" not in name:
            hint = did_you_mean(name, names) or "."
            text = f"there is no {name!r}{hint} There are: {family.some_names()} (or {GRAMMAR})"
            return self.problem((*path, "type"), text)
        try:
            target, name = self.importer.find(name, self.source.folder_of(*path, "type"))
        except NotFoundError as error:
            return self.problem((*path, "type"), str(error))
        if not callable(target):
            return self.problem((*path, "type"), f"{name} is {target!r}, which cannot be called")
        return target, name

    def check_known(
        self,
        path: KeyPath,
        key: str,
        signature: Signature,
        name: str,
        family: Family,
        also: Iterable[str],
    ) -> bool:
        if key in family.hidden:
            self.problem(path, "is set by the trainer, not by the config")
            return False
        if key in signature.parameters or signature.open:
            return True
        names = [*signature.parameters, "type", *also]
        nested, tree = len(path) > 2, self.source.tree
        hint = did_you_mean(key, names) if nested else hint_for(key, names, tree, str(path[0]))
        self.problem(path, f"unknown key{hint or '.'} {name} takes: {signature}")
        return False

    def use_default(
        self, path: KeyPath, parameter: Parameter, name: str, signature: Signature
    ) -> None:
        if parameter.required:
            must = f"is missing; it must be {describe_type(parameter.declared)}"
            text = f"{sentence(must)} {name} takes: {signature}"
            origin = self.source.origin(*path)
            self.problems.add(origin, dotted((*path, parameter.name)), text)

    def argument(self, path: KeyPath, given: Any, declared: Any, family: Family) -> tuple[Any, Any]:
        """Return the value of an argument of a component, and the value for TOML.

        Args:
            path: the path of the argument.
            given: the value in the config.
            declared: the declared type.
            family: the accepted types of nested tables.
        """
        if isinstance(given, dict) and "type" in given and not is_mapping(declared):
            component = self.component(path, given, family)
            return component, {} if component is None else component.inline
        if isinstance(given, list) and any(isinstance(g, dict) and "type" in g for g in given):
            inside = (typing.get_args(declared) or (Any,))[0]
            pairs = [
                self.argument((*path, i), item, inside, family) for i, item in enumerate(given)
            ]
            return composed(path, declared, [v for v, _ in pairs]), [w for _, w in pairs]
        if accepts_functions(declared):
            given, names = self.functions(path, given)
            if names is not None:
                return composed(path, declared, given), names
        try:
            value = coerce(given, declared, self.source.texts.get(path))
        except MismatchError as mismatch:
            return self.problem(path, str(mismatch)), None
        if accepts_paths(declared):
            folder = self.folder_for(path)
            value, given = anchored(value, folder), anchored(given, folder)
        return value, given if toml_value(value) is None else value

    def functions(self, path: KeyPath, given: Any) -> tuple[Any, Any]:
        """Return functions and their references; (given, None) if these are not references."""
        listed = given if isinstance(given, list) else [given]
        if not all(isinstance(name, str) and ":" in name for name in listed):
            return given, None
        folder = self.source.folder_of(*path)
        try:
            found = [self.importer.find(name, folder) for name in listed]
        except NotFoundError as error:
            return self.problem(path, str(error)), given
        functions, names = [f for f, _ in found], [n for _, n in found]
        return (functions, names) if isinstance(given, list) else (functions[0], names[0])

    def folder_for(self, path: KeyPath) -> Path:
        """Return the folder of the file that contains a path, or the working directory."""
        is_in_file = self.source.origin(*path).kind == "file"
        return self.source.folder_of(*path) if is_in_file else Path()

    def problem(self, path: KeyPath, text: str) -> Any:
        """Add a problem, and return None."""
        self.problems.add(self.source.origin(*path), dotted(path), text)
        return None


Problem = tuple[tuple[str, ...], str]


def expand_short_forms(source: Source) -> None:
    """Rename ``loss.weights = "balanced"``, except for the user's own losses."""
    loss = source.tree.get("loss")
    if not isinstance(loss, dict) or "class_weights" in loss or ":" in str(loss.get("type")):
        return
    if loss.get("weights") in ("balanced", "none"):
        source.rename(("loss", "weights"), ("loss", "class_weights"))


def limited(run: RunSection, given: Any) -> RunSection:
    """Return the section with its number of epochs, which other limits replace.

    Args:
        run: the section; None after a mistake.
        given: its table in the config.
    """
    if not run or "epochs" in (given or {}) or not (run.max_steps or run.max_time):
        return run
    return dataclasses.replace(run, epochs=0)


def contradictions(run: RunSection | None, sections: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the paths of keys that do not go together with others, and the reasons."""
    if run and run.epochs == 0 and not (run.max_steps or run.max_time):
        text = "must be at least 1, got 0. 0 needs run.max_steps or run.max_time"
        yield ("run", "epochs"), text
    if run and run.limit_batches and run.overfit_batches:
        yield ("run", "overfit_batches"), "cannot stand beside run.limit_batches"
    if sections["ema"] and sections["swa"]:
        yield ("swa",), "[swa] cannot stand beside [ema]"


_KEY = "data", "validation"


def by_default(sections: Mapping[str, Any], given: Container[tuple[str | int, ...]]) -> DataSection:
    """Return the section ``[data]``, by default without a validation set if nothing selects.

    Args:
        sections: the sections by name.
        given: the paths of the given values.
    """
    data: DataSection = sections["data"]
    compares = getattr(sections["method"].component.target, "compares", True)
    selects = compares or sections["evaluation"].monitor or _has_plateau(sections["schedule"])
    return data if selects or _KEY in given else replace(data, validation=0.0)


def _has_plateau(schedule: Any) -> bool:
    each = () if schedule is None else [schedule, *schedule.named.values()]
    targets = [one.component.target for one in each if one.component is not None]
    return any(isclass(target) and issubclass(target, ReduceLROnPlateau) for target in targets)
