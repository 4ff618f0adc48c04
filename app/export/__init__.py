"""Figures, films, pages and tables of what is shown: dialogs, previews, files."""
