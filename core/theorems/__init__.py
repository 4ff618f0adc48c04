"""The papers' statements: hypotheses, bounds and verdicts for a run, one file a paper.

`registry` lists them, `statement` and `common` have what they share, `report` the words.
docs/theory.md, 8 lists them with what is evaluated, and with the slips of the texts.
"""
