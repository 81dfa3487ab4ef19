"""What may happen: the graph, THE LAW, the fold, decisions and digests, words and consequences.

Pure: `now`, ids and every fact are arguments. This room does no I/O, reads no clock and no randomness, and
imports only the model.
"""
