"""Matrix programs on Spark: blocks in shared memory, narrow factors broadcast."""
