"""Open runs, the intent of the user, and the view that follows from both, without widgets.

`session` has the open runs, `display` the arrays of one run, read by `frame_reading` and computed
in the background by `background_values`. `intent` has the wishes of the user, whose options
`view_options` declares; `resolve` makes of both what the screen shows. `views` is the registry of
views, `headings` names runs, and `text_search` searches entries.
"""
