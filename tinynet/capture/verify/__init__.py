"""Verification: replays beside eager calls, and how they differ."""
