"""From matrix programs to triggers: normal form, deltas, factorization, search."""
