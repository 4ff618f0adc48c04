"""What happens when something is asked for: between state, workers and widgets."""
