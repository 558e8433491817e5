"""Changes of queries, collected while batches run: what the driver hands to subscribers."""
