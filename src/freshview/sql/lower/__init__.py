"""The SQL tree as terms of the calculus."""
