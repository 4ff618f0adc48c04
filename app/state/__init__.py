"""What is open, what the user asked for, and what follows for the screen: no widgets."""
