"""How maps may be partitioned: by primary keys, and on grids of workers."""
