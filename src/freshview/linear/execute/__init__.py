"""Matrix programs at work: arrays, updates, drift, results."""
