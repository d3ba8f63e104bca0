"""Texts, tokenizers and what is made of them."""
