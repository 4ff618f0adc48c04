"""States of the window that can be restored: undo, links, bookmarks, layouts, sessions.

`scene` is such a state, `history` its undo, and `scene_texts` writes and reads it; `controller`,
`links`, `named_items` and `session_keeper` have their parts of the window.
"""
