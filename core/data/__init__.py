"""Distributions and data files: each gives a Dataset.

Kinds are in files by theme, and `registry` lists them; `dataset` and `section` are what they share.
`files` reads what a user brings: `text_table` over `text_lines`, `table_layout`, `labels` and
`numbers`; `arrays` over `numpy_files` and `mat`. `preview` describes data before training.
"""
