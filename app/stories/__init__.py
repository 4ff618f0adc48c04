"""Notes at moments, and stories: edited in a dialog, played with a caption, exported as pages."""
