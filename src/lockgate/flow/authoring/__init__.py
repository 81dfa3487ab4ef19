"""What a workflow author writes: nodes, edges, choices, effects, and the Workflow that holds them.

Everything is checked when it is made: shapes by the constructors, the graph by `Workflow`. What cannot run
raises DefinitionError naming the node or edge and the reason; the loader adds the file.
"""
