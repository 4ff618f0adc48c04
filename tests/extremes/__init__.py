"""Tests of the command `hunt`. The tool tests/tools/hunt trains random studies instead."""
