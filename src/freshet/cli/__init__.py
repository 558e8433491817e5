"""The command line: explain, compile, run, demo."""

from freshet.cli.app import main

__all__ = ["main"]
