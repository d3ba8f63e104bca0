"""The report of a run, a page of HTML."""

from typing import TYPE_CHECKING

from tinynet.base.lazy import attach as _attach

if TYPE_CHECKING:
    from tinynet.train.show.writing import costs_of as costs_of
    from tinynet.train.show.writing import write_report as write_report
else:
    __getattr__, __dir__, __all__ = _attach(__name__)
