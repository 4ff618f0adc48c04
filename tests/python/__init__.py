"""The public module: what other people's programs rely on."""
