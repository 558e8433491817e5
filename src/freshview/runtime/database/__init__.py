"""The database of this process: what is declared, which engine serves, how changes commit."""
