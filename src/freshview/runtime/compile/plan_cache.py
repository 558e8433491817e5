"""Compiled plans in files, since planning takes longer than loading."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from freshview.codegen.library.cache import cache_root, make_room
from freshview.codegen.library.private_files import NotPrivate, private_folder, read_own
from freshview.files import write_whole
from freshview.runtime.compile.compiled_plan import CompiledPlan

MAX_BYTES = 64 << 20
"""Bytes of all the plans of a user together."""


@dataclass(frozen=True, slots=True)
class PlanCache:
    """Plans by key in a folder of at most `max_bytes`; the least recently used ones are evicted.

    A plan depends on its key alone, so a plan that was evicted is compiled again to the same text.
    """

    folder: Path
    max_bytes: int = MAX_BYTES

    def path(self, key: str) -> Path:
        """The file of a key."""
        return self.folder / f"{key}.json"

    def get(self, key: str) -> CompiledPlan | None:
        """The plan of a key; None where there is none, or its file is damaged or not ours."""
        try:
            private_folder(self.folder)
            entry = json.loads(read_own(self.path(key)) or b"{}")
            if hashlib.sha256(entry["plan"].encode()).hexdigest() != entry["sha256"]:
                return None
            fields = json.loads(entry["plan"])
            plan = CompiledPlan(
                fields["source"],
                fields["text"],
                tuple(fields["notes"]),
                tuple(fields["scans"]),
                tuple(fields["deferred"]),
                dict(fields["compared"]),
                fields["mode"],
                {name: tuple(notes) for name, notes in fields["view_notes"].items()},
                tuple(fields["listed"]),
                tuple(fields["host_batches"]),
                tuple(fields["host_alone"]),
            )
        except (OSError, NotPrivate, ValueError, KeyError, TypeError, AttributeError):
            return None
        with suppress(OSError):
            os.utime(self.path(key))  # the time of its last use decides what is evicted
        return plan

    def put(self, key: str, plan: CompiledPlan) -> None:
        """Store the plan of a key; where that fails, it is compiled again the next time."""
        text = json.dumps(asdict(plan))
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        entry = json.dumps({"sha256": sha256, "plan": text}).encode()
        if len(entry) > self.max_bytes:
            return
        with suppress(OSError, NotPrivate):
            private_folder(self.folder)
            write_whole(self.path(key), entry, private=True)
            newest = self.path(key)
            make_room(self.folder.iterdir(), self.max_bytes, lambda path, _: path == newest)


def user_plans() -> PlanCache:
    """The plans of this user."""
    return PlanCache(cache_root() / "plans")
