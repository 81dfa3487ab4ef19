"""What is kept: every fact about every run, in one SQLite file. The only room that knows SQL.

Domain functions are plain and synchronous: a reading one takes a connection, a writing one takes a `Transaction`
(store.transaction) and runs whole inside one BEGIN IMMEDIATE. `Store` (store.shell) is a thin asynchronous shell
that sends one function at a time to the thread which owns the connection; `read_once` and `write_once`
(store.once) run the same functions without asyncio. SQL lives in sql/*.sql, one file per noun.

Nothing here ever opens the live file other than through SQLite: closing such a handle would drop SQLite's locks.
"""
