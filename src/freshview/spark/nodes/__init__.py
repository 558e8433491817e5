"""The nodes inside tasks: the maps of one worker, in a kernel or in the reference engine."""
