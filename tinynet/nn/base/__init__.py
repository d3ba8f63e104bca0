"""The base class of modules: members, state and hooks."""
