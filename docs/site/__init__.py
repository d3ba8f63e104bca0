"""The parts of the documentation that are written by programs; mkdocs calls them (`hooks`)."""
