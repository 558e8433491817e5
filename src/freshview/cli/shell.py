"""`freshview shell`: statements and questions, one by one, over a database of this process."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from freshview.cli.copy import copy_file, copy_statement
from freshview.cli.script import read_text
from freshview.cli.tables import show
from freshview.errors import FreshviewError, UnknownName
from freshview.runtime.database.database import Database
from freshview.runtime.ingest.sources import feed
from freshview.runtime.settings import DatabaseSettings
from freshview.runtime.views.view import ViewHandle

HELP = """\
SQL ends with a semicolon: CREATE, INSERT, UPDATE, DELETE, MERGE, DROP, SELECT, SHOW, DESCRIBE.
COPY name FROM 'file';      insert the rows of a Parquet, CSV or JSON file
\\d [name]                   the relations and views; the columns of one
\\explain view               how a view is kept
\\watch view [seconds]       show a view again after every change; without seconds, once a second
\\read                       read the sources that the script names
\\i file                     run a script
\\timing                     how long each statement takes, from now on or no more
\\q                          leave"""

_UNFINISHED = re.compile(
    r"""(?:'(?:[^']|'')*'|"[^"]*"|`[^`]*`|--[^\n]*(?:\n|$)|/\*.*?\*/|(?P<end>;)|(?P<open>'|"|`|/\*)|.)""",
    re.DOTALL,
)

PROMPT, MORE = "freshview> ", "      ...> "


def is_complete(text: str) -> bool:
    """Whether a text ends with a semicolon that is no part of a literal or a comment.

    >>> is_complete("SELECT 1;  -- done"), is_complete("SELECT ';"), is_complete("SELECT 1")
    (True, False, False)
    """
    ended = False
    for match in _UNFINISHED.finditer(text):
        if match["open"]:
            return False
        if match["end"]:
            ended = True
        elif match.group().strip() and not match.group().startswith(("--", "/*")):
            ended = False
    return ended


@dataclass
class Session:
    """A database, what has been typed so far, and where answers go."""

    db: Database
    console: Console
    folder: Path
    is_timing: bool = False
    typed: str = ""
    sleep: Callable[[float], object] = field(default=time.sleep)

    @property
    def views(self) -> list[ViewHandle]:
        """The views that were declared, without those that calls of table functions read."""
        return [v for v in self.db.views if v.name not in self.db.calls.inputs]

    def take(self, line: str) -> bool:
        """Take a line: run what it completes; whether the session goes on."""
        if not self.typed and line.strip().startswith("\\"):
            return self._command(line.strip())
        self.typed += line + "\n"
        if not self.typed.strip():
            self.typed = ""
        if is_complete(self.typed):
            statement, self.typed = self.typed, ""
            self._timed(lambda: self._run(statement))
        return True

    def _timed(self, action: Callable[[], object]) -> None:
        began = time.perf_counter()
        action()
        if self.is_timing:
            self._print(f"{(time.perf_counter() - began) * 1000:.1f} ms")

    def _run(self, statement: str) -> None:
        copied = copy_statement(statement)
        if copied is not None:
            relation, path = copied
            count = copy_file(self.db, relation, self.folder / path)
            self._print(f"{count} rows into {relation}")
            return
        before = {v.name for v in self.views}
        answer = self.db.sql(statement)
        if answer.schema:
            show(self.console, "", answer.schema, answer.rows())
        else:
            new = [v.name for v in self.views if v.name not in before]
            self._print(f"view {', '.join(new)} is kept" if new else "done")

    def _command(self, text: str) -> bool:
        name, *words = text[1:].split()
        match name, words:
            case (("q" | "quit" | "exit"), []):
                return False
            case (("h" | "help" | "?"), _):
                self._print(HELP)
            case (("d" | "views"), []):
                self._list()
            case "d", [relation]:
                self._run(f"DESCRIBE {relation.rstrip(';')};")
            case "explain", [view]:
                self._print(self._view(view).explain())
            case "watch", [view]:
                self._watch(self._view(view), 1.0, None)
            case "watch", [view, seconds]:
                self._watch(self._view(view), _seconds(seconds), None)
            case "read", []:
                self._timed(self._read)
            case "i", [path]:
                script = self.folder / path.strip("'")
                self._timed(lambda: self.db.sql(read_text(script), str(script)))
            case "timing", []:
                self.is_timing = not self.is_timing
                self._print("timing is on" if self.is_timing else "timing is off")
            case _:
                raise FreshviewError(f"there is no command '{text}'", instead="\\help lists them")
        return True

    def _list(self) -> None:
        for relation in self.db.catalog.relations.values():
            kind = "table " if relation.static else "stream"
            columns = ", ".join(f"{c.name} {c.type}" for c in relation.columns)
            self._print(f"{kind}  {relation.name} ({columns})")
        for view in self.views:
            columns = ", ".join(f"{c.name} {c.type}" for c in view.schema)
            self._print(f"view    {view.name} ({columns})")

    def _view(self, name: str) -> ViewHandle:
        wanted = name.rstrip(";")
        if wanted in (v.name for v in self.views):
            return self.db.view(wanted)
        views = ", ".join(v.name for v in self.views) or "none"
        raise UnknownName(f"there is no view '{wanted}'", instead=f"the views are {views}")

    def _watch(self, view: ViewHandle, pause: float, rounds: int | None) -> None:
        """Show the view, and again whenever it has changed, until the user interrupts."""
        shown: object = None
        try:
            while rounds is None or rounds > 0:
                rows = view.rows()
                if rows != shown:
                    show(
                        self.console, f"{view.name} at version {self.db.version}", view.schema, rows
                    )
                    shown = rows
                rounds = None if rounds is None else rounds - 1
                self.sleep(pause)
        except KeyboardInterrupt:
            self._print("")

    def _read(self) -> None:
        counts: dict[str, int] = {}
        for relation, count in feed(self.db, self.folder, 1000, self._print):
            counts[relation] = counts.get(relation, 0) + count
        self._print(", ".join(f"{n} rows of {name}" for name, n in counts.items()) or "no source")

    def _print(self, text: object) -> None:
        self.console.out(str(text), highlight=False)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 3600:
        raise FreshviewError(f"'{text}' is no pause", instead="give seconds, from 0.01 to 3600")
    return seconds


def run_shell(
    script: Path | None,
    settings: DatabaseSettings,
    console: Console,
    tell: Callable[[object], None],
) -> None:
    """Read lines until the input ends: by hand with history and completion, or from a pipe."""
    folder = script.parent if script is not None else Path()
    session = Session(Database(settings), console, folder)
    if script is not None:
        session.db.sql(read_text(script), str(script))
        session._read()
    interactive = sys.stdin.isatty()
    if interactive:
        _with_history(session)
        tell("\\help lists the commands, \\q leaves")
    for line in _lines(session, interactive):
        try:
            if not session.take(line):
                return
        except FreshviewError as e:
            session.typed = ""
            tell(e)
            if not interactive:
                raise SystemExit(2) from e
    if session.typed.strip():
        raise FreshviewError("the input ends inside a statement", instead="end it with a semicolon")


def _lines(session: Session, interactive: bool) -> Iterator[str]:
    if not interactive:
        yield from (line.rstrip("\n") for line in sys.stdin)
        return
    while True:
        try:
            yield input(MORE if session.typed else PROMPT)
        except KeyboardInterrupt:
            session.typed = ""
            print()
        except EOFError:
            print()
            return


def _with_history(session: Session) -> None:
    """Lines of earlier sessions come back, and names complete, where Python has `readline`."""
    try:
        import readline
    except ImportError:
        return
    import atexit
    from contextlib import suppress

    from freshview.codegen.library.cache import cache_root

    history = cache_root() / "shell_history"
    with suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(2000)

    def save() -> None:
        with suppress(OSError):
            history.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(history)

    atexit.register(save)
    readline.set_completer(Completer(session))
    readline.set_completer_delims(" \t\n,();=<>")
    readline.parse_and_bind("tab: complete")


KEYWORDS = """
SELECT FROM WHERE GROUP BY ORDER LIMIT JOIN LEFT ON CREATE VIEW STREAM TABLE INSERT INTO VALUES
UPDATE SET DELETE MERGE USING DROP COPY SHOW DESCRIBE HAVING DISTINCT UNION ALL AND OR NOT NULL AS
"""

COMMANDS = r"\d \explain \watch \read \i \timing \help \q"

WORDS = (*KEYWORDS.split(), *COMMANDS.split())


class Completer:
    """Words of SQL, commands, and the names of a database."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._fitting: list[str] = []

    def __call__(self, text: str, state: int) -> str | None:
        """The completion of a number, as `readline` asks for them; None after the last one."""
        if state == 0:
            relations = self._session.db.catalog.relations.values()
            names = {r.name for r in relations} | {c.name for r in relations for c in r.columns}
            names |= {v.name for v in self._session.views}
            names |= {c for v in self._session.views for c in v.columns}
            start = text.lower()
            self._fitting = sorted(w for w in {*WORDS, *names} if w.lower().startswith(start))
        return self._fitting[state] if state < len(self._fitting) else None
