"""The only room that imports pyspark: sessions, jobs, pinned tasks, and the nodes inside them."""
