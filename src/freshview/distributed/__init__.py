"""Programs over a driver and many workers: where maps live, what moves, in how many stages."""
