"""The operator in this process: sources, a join that adapts, sinks."""
