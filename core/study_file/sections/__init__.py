"""The sections of an experiment: one frozen, validated value for each kind."""
