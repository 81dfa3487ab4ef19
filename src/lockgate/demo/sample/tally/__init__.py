"""Counts lines, words and letters."""
