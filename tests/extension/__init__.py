"""One new kind of each sort, each in its own file: the examples of docs/extend.md."""
