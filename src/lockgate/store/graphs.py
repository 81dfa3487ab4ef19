"""The graphs of definitions, as the store keeps them."""

import sqlite3

from lockgate.flow import graph
from lockgate.flow.graph import Graph
from lockgate.model.encoding import sha256
from lockgate.model.errors import DefinitionError, NotFound
from lockgate.store.statements import load

_RUNS = load("runs")


def graph_of(connection: sqlite3.Connection, digest: str) -> Graph:
    """The graph of a definition; its document is read once per process. Raises NotFound, or DefinitionError
    for a document that is not what its digest says: consequences and routes are read from it."""
    known = graph.remembered(digest)
    if known is not None:
        return known
    row = connection.execute(_RUNS["definition"], {"digest": digest}).fetchone()
    if row is None:
        raise NotFound("definition", digest)
    if sha256(row[0]) != digest:
        raise DefinitionError(f"the stored definition {digest[:12]} is not what its digest says")
    return graph.decode(digest, row[0])
