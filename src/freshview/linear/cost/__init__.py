"""What matrix programs cost: operations, densities, rates of this machine."""
