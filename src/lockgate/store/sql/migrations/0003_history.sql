-- Version 3: without the index over all finished attempts, which cost every step two pages of the write-ahead log; what is
-- usual for a node is read from its workflow's newest runs.

DROP INDEX node_attempts_history;
