"""The command `hunt`: tests/hunt, which trains random studies, is something else."""
