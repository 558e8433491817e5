"""Terms as loops over tables and indexes."""
