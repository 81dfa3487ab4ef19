"""What may happen: the graph, THE LAW, the fold, decisions and digests, words and consequences.

Pure: `now`, ids and every fact are arguments. This room does no I/O, reads no clock and no randomness, and
imports only the model.

A workflow that is included in another adds no second way to run: `authoring.includes` compiles it into its parent's
graph, where it is entered by one step and left by another. `graph` knows from the last step which includes a run is
in, `head` has one scope for each (its invocation, where its steps begin, its settings), `includes` opens and closes
them, and every rule asks the last scope. So nothing of it is kept but attempts, settings and two events.
"""
