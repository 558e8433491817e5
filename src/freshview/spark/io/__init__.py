"""What goes in and out of a pipeline: sources, malformed rows, changes by key, sinks, progress."""
