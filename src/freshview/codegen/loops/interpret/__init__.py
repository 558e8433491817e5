"""What loops mean, over plain Python: the oracle of passes, without a compiler."""
