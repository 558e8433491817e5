"""Theta joins on Spark: joiners in the partitions of one job a batch, and their durable state."""
