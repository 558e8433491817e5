"""What a user of Spark holds: pipelines, flows, their views and their progress."""
