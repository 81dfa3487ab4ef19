"""Screens: the panes, the decision card, and the small ones that ask or explain."""
