"""How it looks: the dashboard that an operator leaves open, and the card in which a person decides.

It answers at a glance, in this order: does anything need me, is anything wrong, what is running, is what I see
true right now. Everything it shows comes from `view` as frozen snapshots and finished lines; here they get
colours, a cursor and keys. Intents go to the view's desk, and their result is seen in a later snapshot, never
assumed. Textual is known only in this room, style sheets are in `css/` at the top of the repository.

What holds everywhere in it:
- text from data reaches a widget only through the line API: a string would be read as markup;
- the selection is an id; it changes by a key or a click and by nothing else;
- a decision is recorded by one deliberate press of one key, and by nothing else;
- new data paints the cells that differ and lays nothing out; a quiet screen writes nothing.
"""

from lockgate.tui.run import run_dashboard as run_dashboard
