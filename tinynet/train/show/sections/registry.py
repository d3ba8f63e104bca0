"""The sections of a report, in their order; README.md shows how to add one."""

from __future__ import annotations

from tinynet.train.show.page import Section
from tinynet.train.show.sections.config import config
from tinynet.train.show.sections.confusion import confusion
from tinynet.train.show.sections.costs import costs
from tinynet.train.show.sections.curves import curves
from tinynet.train.show.sections.environment import environment
from tinynet.train.show.sections.examples import examples
from tinynet.train.show.sections.exhibits import exhibits
from tinynet.train.show.sections.graph import graph
from tinynet.train.show.sections.overview import overview
from tinynet.train.show.sections.regression import regression
from tinynet.train.show.sections.warnings import warnings
from tinynet.train.show.sections.weights import weights

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
