"""Storage of durable state: local and remote folders, shared memory, blocks of rows, locks."""
