"""Work that goes on behind the window, in threads of its own."""
