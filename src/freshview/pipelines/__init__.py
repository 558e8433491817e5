"""The API for Spark users: pipelines, flows, their views and their progress."""
