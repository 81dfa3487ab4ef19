"""What exists: statuses, records, events, ids, the two encodings, text and errors.

This room is the bottom of the house. It does no I/O, reads no clock and imports no other room.
"""
