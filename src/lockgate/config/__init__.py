"""How Lockgate is set: one value each, from a flag, else `LOCKGATE_*`, else config.toml, else the default.

Everything is read once, at the start of a command, and every value knows where it came from. No other room
looks at the environment for settings.
"""
