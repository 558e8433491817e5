"""Which kind of node a process makes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from freshview.durable.work import Role
from freshview.spark.nodes.kernel_node import NativeNode
from freshview.spark.nodes.node import Node
from freshview.spark.nodes.reference_node import ReferenceNode
from freshview.spark.nodes.shipped_kernels import fetch

if TYPE_CHECKING:
    from freshview.spark.nodes.view_work import ViewWork


def make_node(pipeline: ViewWork, role: Role, folder: Path) -> Node:
    """A node of a pipeline: in a kernel if it has one, else in Python.

    `folder` is an own folder in shared memory. A node that lives in files there says so
    (`node.shared` is True): another process that makes a node over the same folder goes on with
    the maps that it finds. Other nodes are lost with their process.
    """
    shipped = pipeline.kernels.get(role)
    if shipped is None:
        return ReferenceNode(pipeline.made, role, pipeline.functions)
    return NativeNode(shipped.made, fetch(shipped, pipeline.folder), folder / "state")
