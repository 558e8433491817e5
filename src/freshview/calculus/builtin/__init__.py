"""The scalar functions of Spark SQL: one table of families, each function with its meaning."""
