"""Graphs of what ran: recorded, made small, drawn."""
