"""Elementwise operations."""
