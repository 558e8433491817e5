"""Programs over a driver and many workers: placement of maps, transfers, and stages."""
