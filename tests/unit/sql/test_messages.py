"""What errors call things: the words of the user, and advice that keeps what a query means."""

from __future__ import annotations

import pytest

from freshview.errors import FreshviewError
from freshview.sql.load import load
from tests.differential.sql_cases import SCHEMA

CATALOG, _ = load(SCHEMA)

SAID: tuple[tuple[str, str, str], ...] = (
    # Functions that there are not: near ones, and never to be registered where Spark has them
    ("SELECT uper(name) FROM t", "'uper'", "the nearest one is upper"),
    ("SELECT uper(name), COUNT(*) FROM t GROUP BY k", "'uper'", "upper"),
    ("SELECT zork(a) FROM r", "no function 'zork'", "register_function"),
    ("SELECT a FROM r WHERE EXISTS (SELECT 1 FROM s WHERE zork(d) = 1)", "'zork'", "register"),
    ("SELECT CURRENT_DATE FROM r", "NOW outside of a condition", "compare with it in WHERE"),
    ("SELECT rand() FROM r", "RAND, which is another at each look", "store the value"),
    ("SELECT explode(a) FROM r", "EXPLODE, which makes several rows", "join"),
    ("SELECT current_user() FROM r", "CURRENT_USER, which depends on the session", "the value"),
    ("SELECT ROW_NUMBER() FROM r", "ROW_NUMBER without OVER", "OVER (ORDER BY ...)"),
    ("SELECT collect_set(c) FROM r", "the aggregate COLLECT_SET", "COUNT, SUM"),
    ("SELECT a, collect_set(c) FROM r GROUP BY a", "the aggregate COLLECT_SET", "COUNT, SUM"),
    ("SELECT a FROM r GROUP BY a HAVING collect_list(c) > 1", "the aggregate COLLECT_LIST", ""),
    ("SELECT histogram_numeric(c, 5) FROM r GROUP BY a", "the aggregate HISTOGRAM_NUMERIC", ""),
    # Calls that the parser knows by other names
    ("SELECT named_struct('x', a) FROM r", "NAMED_STRUCT", "columns or rows"),
    ("SELECT from_json(name, 'a INT') FROM t", "FROM_JSON", "columns or rows"),
    ("SELECT transform(a, x -> x + 1) FROM r", "TRANSFORM", "columns or rows"),
    ("SELECT * FROM explode(array(1, 2))", "the table function EXPLODE", "range(n)"),
    ("SELECT stddv(a) FROM r", "no function 'stddv'", "the nearest ones are stddev and std"),
    ("SELECT zzz(a) FROM r", "no function 'zzz'", "CREATE FUNCTION"),
    ("SELECT a::UUID FROM r", "CAST to UUID", "cast to INT"),
    ("CREATE TABLE x (i INTERVAL DAY TO SECOND)", "INTERVAL is not supported", "two timestamps"),
    # Constructs
    ("SELECT a[1] FROM r", "an element of an array or map", "columns of their own"),
    ("SELECT day AT TIME ZONE 'UTC' FROM t", "AT TIME ZONE", "no other way yet"),
    ("SELECT (a, b) FROM r", "(a, b) as one value", "a column for each"),
    ("SELECT X'1F' FROM r", "a constant of bytes", "a text"),
    ("SELECT ? FROM r", "a parameter", "the value"),
    ("SELECT a FROM r, UNNEST(array(1)) x", "UNNEST in FROM", "name a table"),
    ("SELECT * REPLACE (a + 1 AS a) FROM r", "* REPLACE", "name the columns"),
    ("SELECT a FROM r VERSION AS OF 3", "a version of a table", "what is there now"),
    # Advice that leaves the rows what they are
    ("SELECT a FROM r FOR UPDATE", "FOR UPDATE", "leave it out: it changes no row"),
    ("SELECT * FROM r TABLESAMPLE (10 PERCENT)", "TABLESAMPLE", "by a condition in WHERE"),
    ("SELECT a FROM r UNION BY NAME SELECT a FROM s", "BY NAME", "in one order on both sides"),
    ("SELECT DISTINCT ON (a) a FROM r", "DISTINCT ON", "LATERAL (SELECT ... ORDER BY"),
    ("SELECT DISTINCT a FROM r ORDER BY b LIMIT 1", "not selected", "equal rows may differ"),
    ("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", "WITH RECURSIVE", "no other way yet"),
)  # fmt: skip


@pytest.mark.parametrize(("sql", "what", "instead"), SAID)
def test_errors_use_the_words_of_the_user(sql: str, what: str, instead: str) -> None:
    with pytest.raises(FreshviewError) as caught:
        load(sql, catalog=CATALOG)
    assert what in caught.value.what
    assert instead in caught.value.instead


INTERNAL = ("PROPERTYEQ", "TSORDS", "ANONYMOUS", "REGEXPLIKE", "TIMETOSTR", "TIME_TO_STR",
            "STRTOTIME", "STR_TO_TIME", "JSONEXTRACT", "ARRAYAGG", "ARRAY_AGG", "NULLS EXCLUDED",
            "FLATTEN", "ZONE IS", "INTDIV", "CURRENTDATE", "EXPRESSION")  # fmt: skip


@pytest.mark.parametrize(
    "call",
    ["date_format(day, 'y')", "to_timestamp(name, 'y')", "from_unixtime(k)", "struct(k, a)",
     "get_json_object(name, '$.a')", "collect_list(k)", "sort_array(collect_list(k))", "array(k)",
     "map(k, a)", "split(name, ',')[0]", "filter(array(k), x -> x > 1)", "to_json(struct(k))",
     "aggregate(array(k), 0, (x, y) -> x + y)", "window(day, '1 day')", "try_divide(k, 2)",
     "regexp_replace(name, 'a', 'b')", "name RLIKE 'a'", "date_trunc('month', day)", "md5(name)"],
)  # fmt: skip
def test_no_name_of_the_parser_is_shown(call: str) -> None:
    try:
        load(f"SELECT {call} AS x FROM t", catalog=CATALOG)
    except FreshviewError as error:
        text = str(error)
        assert not [word for word in INTERNAL if word in text], text


def test_what_changes_no_row_is_ignored_and_said_to_be() -> None:
    sql = "SELECT /*+ BROADCAST(s) */ r.a FROM r JOIN s ON r.a = s.a DISTRIBUTE BY r.a SORT BY r.a"
    _, [query] = load(sql, catalog=CATALOG)
    said = [note.partition(" is ignored")[0] for note in query.notes]
    assert said == ["a hint", "SORT BY", "DISTRIBUTE BY"]
