"""What panels and views are both made of: plots and what is drawn in them, labels, texts.

Plots: `plot_item`, with `axis`, `ranges`, `items`, and on top of them `overlay` and `levels`;
`header` is above. Panels: `labels`, `inputs`, `layouts`, `dialogs`, `message_bar`, `tables`,
`keyboard`. Texts and marks: `screen_text`, `verdict_mark`; `study_picture` shows a figure.
"""
