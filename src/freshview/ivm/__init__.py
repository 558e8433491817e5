"""Higher-order incremental view maintenance: deltas, domains, materialization, trigger programs."""
