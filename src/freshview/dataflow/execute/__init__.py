"""Plans at work: batches in, joins and views in this process or on Spark, results out."""
