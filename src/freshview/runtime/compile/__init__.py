"""Plans and kernels of views: compiled, cached, loaded."""
