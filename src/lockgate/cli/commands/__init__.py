"""The commands, grouped by what a person does with them; each module is imported when one of its own is called."""
