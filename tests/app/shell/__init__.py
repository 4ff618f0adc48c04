"""Tests of the window as a whole: state, training thread, transport, files, sessions."""
