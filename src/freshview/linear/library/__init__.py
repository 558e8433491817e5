"""Ready programs: iterative models, regressions, ranks and paths."""
