"""What is shown: frozen snapshots, and every row of every pane built once as cells.

A record is raw, a snapshot is clean: `snapshots` is where text from the store meets `model.text`. The panes
are functions from snapshots to lines of an exact width; the dashboard paints those lines with colours,
`--once` prints them as text, so both always say the same. No toolkit is imported here.
"""
