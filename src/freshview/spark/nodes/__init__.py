"""What runs inside tasks: the maps of one worker, kept by a kernel or by the reference engine."""
