"""The live page and its HTTP API: views of a database in this process, as they change."""
