"""What users write: streams, signals and uniform signals, with the operators legal on each."""
