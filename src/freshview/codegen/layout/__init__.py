"""Where the maps of a program live: which are kept, in which records, with which indexes."""
