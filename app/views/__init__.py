"""Views of a run: they show what they are told and ask for the rest by signals."""
