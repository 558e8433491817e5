"""The command line: explain, compile, run, demo."""

from freshview.cli.app import main

__all__ = ["main"]
