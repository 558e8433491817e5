"""`freshview run` on Spark: the sources of a script through a pipeline, until they end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status

from freshview.cli.output import Shown, lines_of, open_sends, write_view
from freshview.cli.tables import show
from freshview.errors import FreshviewError
from freshview.files import write_whole

if TYPE_CHECKING:
    from freshview.pipelines.pipeline import Pipeline
    from freshview.pipelines.progress import Progress
    from freshview.pipelines.view import PipelineView
    from freshview.plan.options import Strategy
    from freshview.plan.switches import Switches
    from freshview.spark.io.sinks import Sink


@dataclass(frozen=True)
class RunOptions:
    """How a script is run: where, from which checkpoint, and where its views go."""

    master: str = "local[*]"
    checkpoint: Path | None = None
    workers: int | None = None
    batch: int | None = None
    trigger: str = ""
    follow: bool = False
    out: str = ""
    changes: Path | None = None
    listen: str = ""
    metrics: Path | None = None
    dead_letters: Path | None = None
    packages: tuple[str, ...] = ()
    trusted: bool | tuple[str, ...] = ()
    strategy: Strategy = "auto"
    strict: bool = False
    switches: Switches | None = None


def run_on_spark(
    script: Path, options: RunOptions, console: Console, tell: Callable[[object], object]
) -> None:
    """Read the sources of a script through its views, then show every view."""
    from freshview.pipelines.open import pipeline

    flow = pipeline(
        script,
        master=options.master,
        checkpoint=options.checkpoint,
        workers=options.workers,
        batch=options.batch or 100_000,
        trigger=options.trigger,
        strategy=options.strategy,
        strict=options.strict,
        switches=options.switches,
        packages=options.packages,
        trusted=options.trusted,
        dead_letters=options.dead_letters,
    )
    stop_requested = threading.Event()
    if not flow.queries:
        console.out("rows read: none", highlight=False)
        return
    with ExitStack() as ends, _signals(stop_requested) as listen:
        _outputs(flow, options, ends, tell)
        flow.on_progress(_metrics(flow, options.metrics))
        ends.enter_context(_progress(flow, console, tell))
        ends.callback(flow.stop)
        flow.start(follow=options.follow)
        listen()  # Spark has put its own in place
        while not stop_requested.is_set() and not flow.await_done(0.2):
            pass
        flow.finish()
        _show(flow, options, console)


def _show(flow: Pipeline, options: RunOptions, console: Console) -> None:
    read = ", ".join(f"{n} of {name}" for name, n in flow.totals.read.items() if n) or "none"
    console.out(f"rows read: {read}", highlight=False)
    rejected = flow.totals.last.rejected if flow.totals.last else 0
    if rejected:
        console.out(f"rows that do not fit: {rejected}, in {flow.letters}", highlight=False)
    late = flow.totals.last.late if flow.totals.last else 0
    if late:
        console.out(f"rows that came too late: {late}, in {flow.letters}", highlight=False)
    for view in _written_views(flow):
        if options.out and ":" not in options.out:
            console.out(str(write_view(view, Path(options.out))), highlight=False)
        elif not options.out and options.changes is None:
            console.out()
            show(console, view.name, view.schema, view.rows())


def _written_views(flow: Pipeline) -> list[PipelineView]:
    """The views that the script writes, without those of calls, whose names have parentheses."""
    return [view for view in flow.views if "(" not in view.name]


def _outputs(
    flow: Pipeline, options: RunOptions, ends: ExitStack, tell: Callable[[object], object]
) -> None:
    """Files and readers for changes, and the sinks that `--out` names."""
    send = open_sends(options.changes, options.listen, ends, tell)
    if send is not None:
        for view in _written_views(flow):
            flow.on_version(view.name, _sender(view, send), changes=True)
    kind, _, where = options.out.partition(":")
    if where:
        for view in _written_views(flow):
            flow.add_sink(_sink(kind, where, view.name, flow))


def _sender(view: Shown, send: Callable[[str], object]) -> Callable[[int, object], None]:
    def sender(version: int, changes: object) -> None:
        send(lines_of(view.name, version, changes))

    return sender


def _sink(kind: str, where: str, view: str, flow: Pipeline) -> Sink:
    from freshview.spark.io import sinks

    match kind:
        case "parquet":
            return sinks.Parquet(view, Path(where))
        case "delta":
            return sinks.Delta(view, flow, f"{where}/{view}")
        case "kafka":
            bootstrap, _, topic = where.rpartition("/")
            if bootstrap and topic:
                return sinks.Kafka(view, flow, bootstrap, f"{topic}.{view}")
    raise FreshviewError(
        f"there is no output '{kind}:{where}'",
        instead="use a folder, parquet:FOLDER, delta:FOLDER or kafka:HOST:PORT/TOPIC",
    )


@contextmanager
def _signals(stop_requested: threading.Event) -> Iterator[Callable[[], None]]:
    """While this lasts, SIGINT and SIGTERM ask for a clean stop; gives what puts that in place."""
    names = (signal.SIGINT, signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    before = {name: signal.getsignal(name) for name in names}

    def listen() -> None:
        for name in names:
            signal.signal(name, lambda *_: stop_requested.set())

    listen()
    try:
        yield listen
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


@contextmanager
def _progress(flow: Pipeline, console: Console, tell: Callable[[object], object]) -> Iterator[None]:
    """A line a batch: one that is rewritten on a terminal, a new one everywhere else."""
    from freshview.pipelines.progress import line

    if not console.is_terminal:
        flow.on_progress(lambda p: tell(line(p)))
        yield
        return
    with Status("starting Spark", console=Console(stderr=True)) as status:
        flow.on_progress(lambda p: status.update(line(p)))
        yield


def _metrics(flow: Pipeline, path: Path | None) -> Callable[[Progress], None]:
    def write(_: Progress) -> None:
        if path is None:
            return
        try:
            write_whole(path, flow.metrics().encode(), one_writer=True)
        except OSError as e:
            raise FreshviewError(
                f"cannot write '{path}': {e.strerror}", instead="choose another file"
            ) from e

    return write
