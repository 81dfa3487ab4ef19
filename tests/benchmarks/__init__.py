"""Measurements of this machine against the budgets: `python -m tests.benchmarks [name ...]`.

Every benchmark prints one JSON document: its figures, their budgets, whether they hold, and how loaded the machine
was. A ratio is taken within one run, as the median of several alternating rounds, because machines differ and
ratios less so.
"""
