"""Matrix programs over a driver and workers: where operations run, and what moves for them."""
