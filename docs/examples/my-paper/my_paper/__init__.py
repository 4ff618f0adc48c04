"""The kinds and studies of my paper, for Marginscope."""
