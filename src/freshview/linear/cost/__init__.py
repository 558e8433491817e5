"""What matrix programs cost: operations and densities."""
