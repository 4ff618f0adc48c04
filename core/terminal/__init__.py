"""Text for terminals: printed lines and command lines."""
