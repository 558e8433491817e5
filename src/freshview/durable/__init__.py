"""Steps that happen once: versions, logs, snapshots, epochs and the files that hold them."""
