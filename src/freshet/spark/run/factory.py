"""Which kind of node a process makes."""

from __future__ import annotations

from pathlib import Path

from freshet.calculus.functions import Functions
from freshet.spark.run.node import Node, Role
from freshet.spark.run.reference import ReferenceNode
from freshet.spark.terms import Distributed


def make_node(
    made: Distributed, role: Role, functions: Functions, folder: Path, *, native: bool = True
) -> Node:
    """A node of a program in settled blocks (`settle.py`).

    `folder` is an own folder in shared memory. A node that lives in files there says so
    (`node.shared` is True): another process that makes a node over the same folder goes on with
    the maps that it finds. Other nodes are lost with their process.
    """
    return ReferenceNode(made, role, functions)


def is_shared(node: Node) -> bool:
    """Whether a node lives in the files of its folder."""
    return bool(getattr(node, "shared", False))
