"""What users see of a view: its rows, its history, its subscriptions."""
