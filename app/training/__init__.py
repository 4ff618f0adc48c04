"""The form, and what trains its experiment: Run, branches, cells, questions before a run."""
