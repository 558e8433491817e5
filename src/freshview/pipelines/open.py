"""`fv.pipeline` and `fv.materialized_view`: a pipeline from a script, or from functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from freshview.durable.settings import FlowSettings
from freshview.errors import FreshviewError
from freshview.pipelines.options import PipelineOptions
from freshview.pipelines.pipeline import Pipeline
from freshview.pipelines.view import PipelineView
from freshview.plan.options import Strategy
from freshview.plan.switches import Switches, read_switches

if TYPE_CHECKING:
    from freshview.spark.types import SparkSession


def pipeline(
    script: str | Path,
    spark: SparkSession | None = None,
    master: str = "local[*]",
    *,
    checkpoint: str | Path | None = None,
    workers: int | None = None,
    batch: int = 100_000,
    trigger: str = "",
    strategy: Strategy = "auto",
    strict: bool = False,
    switches: Switches | Mapping[str, object] | None = None,
    packages: Sequence[str] = (),
    dead_letters: str | Path | None = None,
    log: str | Path | None = None,
    upserts: Sequence[str] = (),
    trusted: bool | Sequence[str] = (),
    changes: Sequence[str] = (),
    settings: FlowSettings | None = None,
) -> Pipeline:
    """The views of a script, kept fresh on Spark.

    - `script` is a file of SQL (a path, or a text that ends in `.sql`), or SQL itself.
    - `spark` is the session to use; without one, a session is started on `master`.
    - `checkpoint` is the folder from which a later pipeline of the same program continues.
    - `workers` is how many parts the state is split into: by default the number of cores.
    - `batch` is how many records of a file are one change; `trigger` ("1 second") how often the
      other sources are polled while they are followed.
    - `strategy`, `strict` and `switches` are as for `connect`.
    - `packages` are what a new session needs: `kafka`, `delta`, or Maven coordinates.
    - `dead_letters` is the folder for malformed rows; by default in the checkpoint.
    - `log` is the file for Spark's log; `upserts` are the streams that `upsert` changes by key.
    - `trusted` are streams (or, if True, all) whose changes are not checked: deletions of missing
      rows, and second rows of a primary key, make views silently wrong.
    - `changes` are views whose changes are collected for sinks that come after the start.
    - `settings` are those of the state: snapshots, memory, native kernels.
    """
    if batch < 1:
        raise FreshviewError(f"a batch cannot have {batch} records", instead="give 1 or more")
    text, name, folder = _script(script)
    options = PipelineOptions(
        master,
        None if checkpoint is None else Path(checkpoint),
        workers,
        batch,
        trigger,
        strategy,
        strict,
        tuple(packages),
        None if dead_letters is None else Path(dead_letters),
        None if log is None else Path(log),
        settings,
        tuple(upserts),
        trusted if isinstance(trusted, bool) else tuple(trusted),
        read_switches(switches),
        (changes,) if isinstance(changes, str) else tuple(changes),
    )
    created = Pipeline(options, spark, folder)
    created.declare(text, name)
    return created


def _script(script: str | Path) -> tuple[str, str, Path]:
    """The text of a script, its name in errors, and the folder of its relative paths."""
    if isinstance(script, str) and not (script.endswith(".sql") and "\n" not in script):
        return script, "<text>", Path.cwd()
    path = Path(script)
    try:
        return path.read_text(encoding="utf-8"), str(path), path.parent
    except OSError as e:
        raise FreshviewError(
            f"cannot read '{path}': {e.strerror}", instead="name a script of SQL"
        ) from e
    except UnicodeDecodeError as e:
        raise FreshviewError(f"'{path}' is not UTF-8 text", instead="convert it") from e


def materialized_view(
    owner: Pipeline, name: str = ""
) -> Callable[[Callable[[], str]], Callable[[], PipelineView]]:
    """Declare the SELECT that a function returns as a view of a pipeline, under its name.

    @fv.materialized_view(flow)
    def revenue():
        return "SELECT customer, SUM(price) AS total FROM orders GROUP BY customer"

    revenue().to_df()
    """

    def declare(function: Callable[[], str]) -> Callable[[], PipelineView]:
        called = name or function.__name__
        sql = function()
        if not isinstance(sql, str):
            raise FreshviewError(
                f"'{called}' returns {type(sql).__name__}", instead="return the text of a SELECT"
            )
        owner.declare(f"CREATE VIEW `{called}` AS {sql}", f"<{called}>")

        def view() -> PipelineView:
            return owner.view(called)

        view.__name__, view.__doc__ = function.__name__, function.__doc__
        return view

    return declare
