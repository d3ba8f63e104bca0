"""The sections of a report, in their order; README.md shows how to add one."""

from __future__ import annotations

from tinynet.train.show.page import Section
from tinynet.train.show.sections.curves import curves
from tinynet.train.show.sections.examples import examples, exhibits
from tinynet.train.show.sections.model import costs, graph, weights
from tinynet.train.show.sections.overview import config, environment, overview, warnings
from tinynet.train.show.sections.predictions import confusion, regression

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
