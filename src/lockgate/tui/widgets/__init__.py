"""Widgets: each paints lines that `view` built, keeps a cursor or a text, and sends messages upwards."""
