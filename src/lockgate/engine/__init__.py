"""How a run runs: a file is loaded, its definition walked, nodes executed, and transitions proposed.

The engine knows no database. It proposes through `ExecutionStore`, which the store and a worker's connection
to its host implement.
"""
