"""Products, sums and inverses of matrices over a semiring, on NumPy and on devices."""
