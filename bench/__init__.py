"""The benchmarks: what the native engine does per second, beside its peers, on the same data.

Each file is a program of its own (`python -m bench.native --help`). `make bench` runs what
`bench/suite.py` lists and writes one report of it; `make bench-native` runs all the parts about the
native engine at length. Tables go to the terminal, the numbers to `build/bench/*.json`.
"""
