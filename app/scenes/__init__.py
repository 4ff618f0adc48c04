"""States of the window that can be restored: undo, links, bookmarks, layouts, sessions."""
