"""Writes docs/reference/functions.md: the functions of Spark SQL, with the state of each.

Run `python -m tests.differential.function_page` after a change of the table of functions.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from freshview.calculus.functions import BUILTINS
from freshview.codegen.cpp.functions import FUNCTIONS
from freshview.sql.lower.values.rewritten import RENAMED, WRITTEN

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "functions.md"
LIST = Path(__file__).with_name("spark_functions.txt")

NOT_SCALAR = {
    "agg_funcs": "aggregates",
    "generator_funcs": "they make several rows of one",
    "table_funcs": "tables",
    "window_funcs": "they need OVER",
}
"""Groups that are no scalar functions."""

SYNTAX = {
    "!": "NOT flag",
    "!=": "i <> 1",
    "<>": "i <> 1",
    "||": "s || 'x'",
    "case": "CASE WHEN flag THEN 1 ELSE 2 END",
    "&": "i & 3",
    "<<": "i << 2",
    ">>": "i >> 2",
    "^": "i ^ 3",
    "|": "i | 3",
    "~": "~i",
    "between": "i BETWEEN 1 AND 2",
    "if": "IF(flag, 1, 2)",
    "when": "CASE WHEN flag THEN 1 END",
    "cast": "CAST(i AS STRING)",
    "bigint": "BIGINT(s)",
    "boolean": "BOOLEAN(s)",
    "date": "DATE(s)",
    "decimal": "DECIMAL(s)",
    "double": "DOUBLE(s)",
    "float": "FLOAT(s)",
    "int": "INT(s)",
    "smallint": "SMALLINT(s)",
    "string": "STRING(i)",
    "timestamp": "TIMESTAMP(s)",
    "tinyint": "TINYINT(s)",
    "extract": "EXTRACT(DAY FROM d)",
    "div": "i DIV 2",
    "mod": "MOD(i, 2)",
    "%": "i % 2",
    "*": "i * 2",
    "+": "i + 2",
    "-": "i - 2",
    "/": "i / 2",
    "<": "i < 1",
    "<=": "i <= 1",
    "=": "i = 1",
    "==": "i == 1",
    ">": "i > 1",
    ">=": "i >= 1",
    "and": "flag AND i > 1",
    "or": "flag OR i > 1",
    "not": "NOT flag",
    "in": "i IN (1, 2)",
    "like": "s LIKE 'a%'",
    "isnull": "ISNULL(i)",
    "isnotnull": "ISNOTNULL(i)",
    "isnan": "ISNAN(x)",
    "nanvl": "NANVL(x, 1)",
    "assert_true": "ASSERT_TRUE(i > 0 OR TRUE)",
    "make_dt_interval": "MAKE_DT_INTERVAL(i, 1)",
    "make_ym_interval": "d + MAKE_YM_INTERVAL(1, 2)",
    "nullif": "NULLIF(i, 1)",
    "nullifzero": "NULLIFZERO(i)",
    "zeroifnull": "ZEROIFNULL(i)",
    "nvl2": "NVL2(i, 1, 2)",
    "equal_null": "EQUAL_NULL(i, 1)",
    "decode": "DECODE(i, 1, 'a', 'b')",
    "date_part": "DATE_PART('YEAR', d)",
    "datepart": "DATEPART('YEAR', d)",
    "date_add": "DATE_ADD(d, 1)",
    "dateadd": "DATEADD(d, 1)",
    "date_sub": "DATE_SUB(d, 1)",
    "date_diff": "DATE_DIFF(d, d)",
    "datediff": "DATEDIFF(d, d)",
    "abs": "ABS(i)",
    "add_months": "ADD_MONTHS(d, 1)",
    "ceil": "CEIL(x)",
    "ceiling": "CEILING(x)",
    "floor": "FLOOR(x)",
    "round": "ROUND(x, 1)",
    "sqrt": "SQRT(x)",
    "pow": "POW(x, 2)",
    "power": "POWER(x, 2)",
    "greatest": "GREATEST(i, 1)",
    "least": "LEAST(i, 1)",
    "coalesce": "COALESCE(i, 1)",
    "nvl": "NVL(i, 1)",
    "ifnull": "IFNULL(i, 1)",
    "concat": "CONCAT(s, s)",
    "length": "LENGTH(s)",
    "len": "LEN(s)",
    "char_length": "CHAR_LENGTH(s)",
    "character_length": "CHARACTER_LENGTH(s)",
    "lower": "LOWER(s)",
    "lcase": "LCASE(s)",
    "upper": "UPPER(s)",
    "ucase": "UCASE(s)",
    "substr": "SUBSTR(s, 1, 2)",
    "substring": "SUBSTRING(s, 1, 2)",
    "trim": "TRIM(s)",
    **{
        part: f"{part.upper()}({'t' if part in ('hour', 'minute', 'second') else 'd'})"
        for part in ("year", "quarter", "month", "day", "dayofmonth", "hour", "minute", "second")
    },
}
"""What is syntax, or written by other expressions, or older than the table: an example of each."""

WORDED = frozenset(("case", "between", "if", "when", "cast", "extract", "and", "or", "not", "in"))
"""Syntax that looks like the name of a function."""

BINARY = "BINARY"
REASONS = {
    **dict.fromkeys(
        ("aes_decrypt", "aes_encrypt", "try_aes_decrypt", "hmac", "encode", "to_binary"), BINARY
    ),
    **dict.fromkeys(("try_to_binary", "unbase64", "unhex", "binary", "from_base32"), BINARY),
    **dict.fromkeys(
        ("current_date", "curdate", "current_time", "current_timestamp", "localtime", "now"), "now"
    ),
    **dict.fromkeys(("localtimestamp", "unix_timestamp()"), "now"),
    **dict.fromkeys(("rand", "randn", "random", "randstr", "uniform", "uuid"), "random"),
    **dict.fromkeys(
        ("current_catalog", "current_database", "current_path", "current_schema", "current_user"),
        "session",
    ),
    **dict.fromkeys(
        ("session_user", "user", "version", "current_timezone", "input_file_name"), "session"
    ),
    **dict.fromkeys(
        ("input_file_block_length", "input_file_block_start", "spark_partition_id"), "session"
    ),
    **dict.fromkeys(("monotonically_increasing_id", "java_method", "reflect"), "session"),
    "try_reflect": "session",
    **dict.fromkeys(("make_interval", "try_make_interval"), "INTERVAL"),
    **dict.fromkeys(("sentences", "split", "regexp_extract_all"), "nested"),
    **dict.fromkeys(("cardinality", "element_at", "size", "try_element_at"), "nested"),
    **dict.fromkeys(("window", "window_time", "session_window"), "window"),
    **dict.fromkeys(("named_struct", "struct", "bitmap_count"), "nested"),
}
WORDS = {
    BINARY: "there are no values of type BINARY",
    "now": "the answer depends on the moment: [conditions](sql.md#time) may compare with it",
    "random": "the answer is another each time",
    "session": "the answer depends on the session or on where a row is",
    "INTERVAL": "an interval is of months or of days, never of both",
    "nested": "there are no arrays, maps or structs",
    "window": "windows are written as [SQL](sql.md) says",
    "TIME": "there are no values of type TIME",
    "later": "not yet",
}
GROUPS = {
    **dict.fromkeys(("array_funcs", "collection_funcs", "lambda_funcs", "map_funcs"), "nested"),
    **dict.fromkeys(("struct_funcs", "vector_funcs"), "nested"),
}


def spark_functions() -> list[tuple[str, str]]:
    """What Spark's SHOW FUNCTIONS has: group and name."""
    rows = LIST.read_text().splitlines()[1:]
    return [(group, name) for group, _, name in (row.partition(" ") for row in rows)]


def state(group: str, name: str) -> str:
    """How a scalar function is computed, or the reason why it is not."""
    if (
        (not name.isidentifier() and name in SYNTAX)
        or name in WORDED
        or name in WRITTEN
        or (name in SYNTAX and name not in BUILTINS)
    ):
        return "written"
    own = RENAMED.get(name, name)
    if own in BUILTINS:
        return "C++" if own in FUNCTIONS.known else "Python"
    if name in REASONS:
        return REASONS[name]
    if "time" in name.split("_") and group == "datetime_funcs":
        return "TIME"
    return GROUPS.get(group, "later")


def page() -> str:
    """The page."""
    by_group: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for group, name in spark_functions():
        if group not in NOT_SCALAR:
            by_group[group][state(group, name)].append(f"`{name}`".replace("|", "\\|"))
    counts: dict[str, int] = defaultdict(int)
    for states in by_group.values():
        for how, names in states.items():
            counts[how] += len(names)
    here = {how: counts.pop(how) for how in ("C++", "Python", "written")}
    lines = [
        "# Scalar functions",
        "",
        "All the scalar functions of Spark 4.3 (`SHOW FUNCTIONS`), and how each is computed. This",
        "page is written by `python -m tests.differential.function_page`; a test compares it.",
        "",
        f"- {sum(here.values())} functions are supported, on every engine:",
        f"  - {here['written']} are operators, or written by other functions;",
        f"  - {here['C++']} are C++ in a kernel;",
        f"  - {here['Python']} are computed in Python: for all the rows of a batch at once,",
        "    before its trigger, where the arguments are columns of one relation; else one by one.",
        "    `explain` names them. A view that calls one cannot be compiled to stand alone.",
        f"- {sum(counts.values())} are not, for these reasons:",
        *(f"  - {counts[how]}: {WORDS[how]} (**{how}** below)" for how in sorted(counts)),
        "",
        "The answers are those of Spark in ANSI mode with the time zone UTC, which was asked for",
        "those in `tests/differential/functions.txt`. We differ on purpose where doubles are",
        "infinite or NaN (NULL), by division by zero (NULL), and where an answer is -2^63",
        "(refused). An integer is a BIGINT wherever its size matters, as in `hash` and",
        "`shiftright`; the hash of a decimal is refused. There are no arrays, but what is taken",
        "out of one is read: `SPLIT(s, p)[i]`, `ELEMENT_AT(SPLIT(s, p), n)`, `SIZE(SPLIT(s, p))`.",
        "",
        "| group | in C++ or written by others | in Python | not supported |",
        "|---|---|---|---|",
    ]
    for group in sorted(by_group):
        states = by_group[group]
        native = sorted((*states.get("C++", ()), *states.get("written", ())))
        missing = [
            f"{', '.join(names)} (**{how}**)"
            for how, names in sorted(states.items())
            if how not in ("C++", "Python", "written")
        ]
        cells = (", ".join(native), ", ".join(states.get("Python", ())), "; ".join(missing))
        lines.append(f"| {group.removesuffix('_funcs')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
