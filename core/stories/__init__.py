"""Stories: ordered moments of some runs, each with a sentence, as frozen values and small files.

`story` defines and checks them, `story_file` reads and writes them, `shipped_stories` has those of
shipped studies.
"""
