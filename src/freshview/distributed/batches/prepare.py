"""The passes that prepare a distributed program for its nodes."""

from __future__ import annotations

from freshview.calculus.functions import BUILTINS, Functions
from freshview.distributed.batches.guard import guard
from freshview.distributed.batches.prune_columns import prune_columns
from freshview.distributed.batches.push_lookups import push_lookups
from freshview.distributed.batches.share_batch_work import share_batch_work
from freshview.distributed.schedule_blocks import schedule_blocks
from freshview.distributed.terms import Distributed


def prepare(distributed: Distributed, functions: Functions = BUILTINS) -> Distributed:
    """The same program with shared batch work, pruned columns, ordered blocks and guards."""
    return guard(
        schedule_blocks(prune_columns(push_lookups(share_batch_work(distributed, functions)))),
        distributed.guarded,
    )
