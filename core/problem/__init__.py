"""What is trained, before any step: data, network, loss and start, and the frames to keep."""
