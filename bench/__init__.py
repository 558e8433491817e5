"""The benchmarks: what the native engine does per second, beside its peers, on the same data.

Each file is a program of its own (`python -m bench.native --help`); `make bench-native` runs them
all. Tables go to the terminal, the numbers to `build/bench/*.json`.
"""
