"""Access from Python to training, margins, statements, studies and figures."""
