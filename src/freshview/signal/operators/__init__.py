"""The operators of signal queries: each turns changes of its inputs into changes of its result."""
