"""Matrix programs over a driver and workers: placement of operations, and transfers."""
