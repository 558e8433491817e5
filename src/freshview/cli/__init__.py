"""The command line: explain, compile, run, shell, init, doctor, demo."""

from freshview.cli.app import main

__all__ = ["main"]
