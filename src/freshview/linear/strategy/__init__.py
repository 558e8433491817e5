"""Which trigger follows an update: operations or seconds, densities, and the reasons in words."""
