"""The papers' statements: hypotheses, bounds and verdicts for a run, one file a paper.

`registry` lists them, `statement` and `common` contain what they share, `report` their words.
docs/theory.md, section 8, lists them with the quantities evaluated, and the slips of the texts.
"""
