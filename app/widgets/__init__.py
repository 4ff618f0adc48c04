"""What panels and views are both made of: plots and what is drawn in them, labels, texts."""
