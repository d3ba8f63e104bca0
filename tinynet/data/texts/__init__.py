"""Text data sets and tokenizers."""
