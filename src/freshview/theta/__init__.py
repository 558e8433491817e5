"""Online theta joins that re-partition themselves (Squall)."""
