"""Embeddings: rows of a table, by index."""

from tinynet.nn.functional.lookup.embedding import *
from tinynet.nn.functional.lookup.embedding_bag import *
