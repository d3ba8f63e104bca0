"""The recorded graph, and the engine that walks it."""
