"""`COPY relation FROM 'file'`: a whole file into a stream or a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from freshview.errors import FreshviewError
from freshview.runtime.database.database import Database

if TYPE_CHECKING:
    import pyarrow as pa

COPY = re.compile(
    r"\s*COPY\s+(?P<relation>[\w.\"`]+)\s+FROM\s+'(?P<path>(?:[^']|'')+)'\s*;?\s*", re.IGNORECASE
)

FORMATS = "a .parquet, .csv or .tsv (with a header), .json or .jsonl file (a row a line)"


def copy_statement(text: str) -> tuple[str, Path] | None:
    """The relation and the file of a COPY statement; None where it is another one.

    >>> copy_statement("COPY orders FROM 'new orders.csv';")
    ('orders', PosixPath('new orders.csv'))
    """
    match = COPY.fullmatch(text)
    if match is None:
        return None
    return match["relation"].strip('"`'), Path(match["path"].replace("''", "'"))


def copy_file(db: Database, relation: str, path: Path) -> int:
    """Insert the rows of a file, as one change; gives their number."""
    table = read_file(path)
    declared = db.catalog.relations.get(relation) or db.catalog.relations.get(relation.lower())
    if declared is not None and declared.static:
        return db.load(relation, table)
    db.insert(relation, table)
    return int(table.num_rows)


def read_file(path: Path) -> pa.Table:
    """A file as an Arrow table; its format is that of its ending."""
    import pyarrow as pa

    try:
        match path.suffix.lower():
            case ".parquet":
                import pyarrow.parquet as parquet

                return parquet.read_table(path)
            case ".csv" | ".tsv":
                import pyarrow.csv as csv

                delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
                return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter))
            case ".json" | ".jsonl" | ".ndjson":
                import pyarrow.json as json

                return json.read_json(path)
    except OSError as e:
        problem = e.strerror or str(e)
        raise FreshviewError(f"cannot read '{path}': {problem}", instead=f"name {FORMATS}") from e
    except pa.ArrowException as e:
        raise FreshviewError(f"cannot read '{path}': {e}", instead="correct the file") from e
    raise FreshviewError(f"COPY does not read files like '{path}'", instead=f"name {FORMATS}")
