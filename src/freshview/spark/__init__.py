"""The pipeline's only way to Spark: sessions, jobs, pinned tasks, and the nodes inside them."""
