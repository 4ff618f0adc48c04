"""Tests of the whole window: state, training thread, transport, files, sessions."""
