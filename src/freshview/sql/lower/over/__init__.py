"""Window functions: values of a row that other rows of its partition decide."""
