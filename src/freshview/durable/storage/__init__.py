"""Where durable state lies: folders here and elsewhere, shared memory, blocks of rows, locks."""
