"""Steps that happen once: versions, logs, snapshots, epochs and their files."""
