"""The sections of a report, in their order; README.md shows how to add one."""

from __future__ import annotations

from tinynet.train.html_report.page import Section
from tinynet.train.html_report.sections.config import config
from tinynet.train.html_report.sections.confusion import confusion
from tinynet.train.html_report.sections.costs import costs
from tinynet.train.html_report.sections.curves import curves
from tinynet.train.html_report.sections.environment import environment
from tinynet.train.html_report.sections.examples import examples
from tinynet.train.html_report.sections.exhibits import exhibits
from tinynet.train.html_report.sections.graph import graph
from tinynet.train.html_report.sections.overview import overview
from tinynet.train.html_report.sections.regression import regression
from tinynet.train.html_report.sections.warnings import warnings
from tinynet.train.html_report.sections.weights import weights

SECTIONS = (
    Section("Overview", overview),
    Section("Curves", curves),
    Section("Confusion matrix", confusion),
    Section("Predictions", regression),
    Section("Examples", examples),
    Section("Exhibits", exhibits),
    Section("Weights and gradients", weights),
    Section("Graph", graph),
    Section("Time and memory", costs),
    Section("Config", config),
    Section("Environment", environment),
    Section("Warnings", warnings),
)
