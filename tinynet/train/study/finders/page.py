"""The page about a range test: its suggestion and its curve."""

from __future__ import annotations

from dataclasses import dataclass

from tinynet.train.config.reference import to_toml
from tinynet.train.config.sections import Config
from tinynet.train.show.page import Html, Section, cards, element, folded, joined, page, table
from tinynet.train.show.plots import GREY, Curve, lines
from tinynet.train.study.finders.learning_rate import ENDS, FLAT, RangeTest, advice, shown_top


@dataclass(frozen=True)
class _Subject:
    test: RangeTest
    config: Config
    command: str


def page_of(test: RangeTest, config: Config, command: str) -> str:
    """Return the page about a range test, as an HTML document.

    Args:
        test: the result.
        config: the config of the test.
        command: the command that trains with the suggestion.
    """
    return page(f"{config.run.name}: learning rate", _Subject(test, config, command), _SECTIONS)


def _suggestion(subject: _Subject) -> Html:
    test = subject.test
    figures = {"in the config": f"{test.configured:g}"}
    text = [element("p", FLAT, class_="bad")]
    if test.suggestions is not None:
        figures = {
            "steepest descent (suggested)": f"{test.suggestion:g}",
            "minimum / 10": f"{test.suggestions.tenth_of_minimum:.2g}",
            "minimum": f"{test.suggestions.minimum:.2g}",
        } | figures
        text = [element("pre", subject.command)]
    notes = [element("p", note, class_="soft") for note in advice(test)]
    return joined([cards(figures), *text, *notes])


def _curve(subject: _Subject) -> Html:
    test = subject.test
    top = shown_top(test)
    curves = [
        Curve("each step", test.rates, [min(y, top) for y in test.losses], GREY, thin=True),
        Curve("smoothed", test.rates, [min(y, top) for y in test.smoothed]),
    ]
    ends = [min(test.smoothed), min(top, max(test.smoothed))]
    places = {}
    if test.suggestions is not None and test.suggestion is not None:
        places = {"suggestion": test.suggestion, "minimum": test.suggestions.minimum}
    for colour, (name, rate) in enumerate(places.items(), 1):
        curves.append(Curve(name, [rate, rate], ends, colour, thin=True))
    plot = lines("training loss", curves, test.key, log_x=True)
    end = element("p", ENDS[test.ended], class_="soft")
    rows = [
        [f"{rate:.4g}", f"{loss:.5g}", f"{mean:.5g}"]
        for rate, loss, mean in zip(test.rates, test.losses, test.smoothed, strict=True)
    ]
    points = folded("All steps", table([test.key, "loss", "smoothed"], rows))
    return joined([element("div", plot, class_="plots large"), end, points])


def _config(subject: _Subject) -> Html:
    return folded("The config of the test", element("pre", to_toml(subject.config)))


_SECTIONS: tuple[Section[_Subject], ...] = (
    Section("Suggestion", _suggestion),
    Section("Curve", _curve),
    Section("Config", _config),
)
