"""What a study file says of one experiment: its sections, their values, and what is allowed."""
