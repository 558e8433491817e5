"""The engine in this process: rows and files in, batches applied, views read."""
