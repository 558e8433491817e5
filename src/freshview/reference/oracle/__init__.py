"""The oracle: the meaning of terms, by the simplest code that is obviously right."""
