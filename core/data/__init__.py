"""Distributions and data files, each of which gives a Dataset.

Each file holds the kinds of one theme, and `registry` lists them; `dataset` and `section` are their
base. `files` reads a user's data: `text_table` over `text_lines`, `table_layout`, `labels` and
`numbers`; `arrays` over `numpy_files` and `mat`. `preview` describes data before training.
"""
