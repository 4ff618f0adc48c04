"""The headless program: `python -m core COMMAND`.

`main` parses by `parser` and `grammar` and calls a command by its name; the other modules are
commands, but for `output`, `view_arguments` (options of pictures) and `bundle` (support for
bundles).
"""
