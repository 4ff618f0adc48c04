"""Several runs compared: alignment, differences, bands, settings, figure and command."""
