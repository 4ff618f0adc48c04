"""The window: PySide6 views and controllers around core. Nothing in core imports it."""
