"""Parts of panels and views: plots and their items, labels, inputs, tables and texts.

Plots: `plot_item`, with `axis`, `ranges`, `items`, and on top of them `overlay` and `levels`;
`header` is above. Panels: `labels`, `inputs`, `layouts`, `dialogs`, `message_bar`, `tables`,
`keyboard`. Texts and marks: `screen_text`, `verdict_mark`; `study_picture` shows a figure.
"""
