"""Form of an experiment, and its training: Run, branches, cells, questions before a run."""
