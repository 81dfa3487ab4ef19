"""How each kind of node is performed."""
