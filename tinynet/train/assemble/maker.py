"""Building the object of a component, with the problems of a config."""

from __future__ import annotations

from typing import Any

from tinynet.train.base.problems import Problems
from tinynet.train.config.components import EVERY, Family
from tinynet.train.config.sections import Config
from tinynet.train.config.signatures import Component, construct, refusal, refused_at


class Maker:
    """Calls the constructors that a config names, and collects the problems."""

    def __init__(self, config: Config, problems: Problems | None = None) -> None:
        self.config = config
        self.problems = Problems() if problems is None else problems

    def make(self, section: str, component: Component, *supplied: Any, **hidden: Any) -> Any:
        """Return the object of a component; None after a problem."""
        family = EVERY[section]
        try:
            built = construct(component, *supplied, **hidden)
        except (Exception, SystemExit) as error:
            return self.problem_at(refused_at(component, error), refusal(component, error))
        if not family.fits(built):
            return self.problem(component, f"must give {family.what}, gave {_kind(built, family)}")
        return built

    def problem(self, component: Component, text: str) -> None:
        self.problem_at(component.path, text)

    def problem_at(self, path: str, text: str) -> None:
        origins, place = self.config.origins, path
        while place and place not in origins and f"{place}.type" not in origins:
            place = place.rpartition(".")[0]
        origin = origins.get(f"{place}.type") or self.config.origin(place)
        self.problems.add(origin, path, text)


def _kind(built: Any, family: Family) -> str:
    return f"{built!r} ({type(built).__name__})"[:200]
