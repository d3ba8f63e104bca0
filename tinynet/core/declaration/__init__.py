"""How an operation is declared and compiled."""
