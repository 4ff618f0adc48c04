"""Data drawn by hand, and the preview of the data that Run would train on."""
