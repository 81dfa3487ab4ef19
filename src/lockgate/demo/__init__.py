"""A first look: a small real project, its workflows, and a host that lives as long as the demo.

The workflows under `workflows/` are copied out, for their user to read and edit; they and everything here use
what is public only. The command that makes a demo from these parts is in the room above.
"""
