"""The papers' statements: hypotheses, bounds and verdicts for a run, one file a paper."""
