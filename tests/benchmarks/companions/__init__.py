"""Scripts that a benchmark runs as other processes beside it."""
