"""Signal queries on Spark: groups hashed over the partitions of one job a batch."""
