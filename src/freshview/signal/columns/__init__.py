"""Events of all groups as columns: rows, and stores that are searched by group and time."""
