"""Input and output of a pipeline: sources, dead letters, changes by key, sinks."""
