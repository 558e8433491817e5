"""What to say of a function that there is not: what it is in Spark, or which ones are near."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from freshview.errors import FreshviewError, UnknownFunction, UnsupportedSql

_MOMENT = frozenset(["now"])
_SESSION = frozenset(
    [
        "current_user",
        "session_user",
        "user",
        "current_catalog",
        "current_database",
        "current_schema",
        "current_timezone",
        "version",
        "input_file_name",
        "spark_partition_id",
        "monotonically_increasing_id",
    ]
)
_RANDOM = frozenset(("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle"))
_ROWS = frozenset(
    [
        "explode",
        "explode_outer",
        "posexplode",
        "posexplode_outer",
        "inline",
        "inline_outer",
        "stack",
        "json_tuple",
        "variant_explode",
    ]
)
_NESTED = frozenset(
    (
        *("array", "array_append", "array_compact", "array_contains", "array_distinct"),
        *("array_except", "array_insert", "array_intersect", "array_join", "array_max"),
        *("array_min", "array_position", "array_prepend", "array_remove", "array_repeat"),
        *("array_size", "array_sort", "array_union", "arrays_overlap", "arrays_zip"),
        *("aggregate", "cardinality", "exists", "filter", "flatten", "forall", "from_json"),
        *("get", "map", "map_concat", "map_entries", "map_filter", "map_from_arrays"),
        *("map_from_entries", "map_keys", "map_values", "named_struct", "reduce", "sequence"),
        *("slice", "sort_array", "split", "str_to_map", "struct", "to_json", "transform"),
        *("transform_keys", "transform_values", "zip_with", "regexp_extract_all", "sentences"),
    )
)
"""Functions of arrays, maps and structs."""

AGGREGATES = frozenset(
    [
        "any",
        "any_value",
        "approx_count_distinct",
        "approx_percentile",
        "array_agg",
        "bit_and",
        "bit_or",
        "bit_xor",
        "bool_and",
        "bool_or",
        "collect_list",
        "collect_set",
        "corr",
        "count_if",
        "count_min_sketch",
        "covar_pop",
        "covar_samp",
        "every",
        "first",
        "first_value",
        "histogram_numeric",
        "kurtosis",
        "last",
        "last_value",
        "listagg",
        "max_by",
        "mean",
        "median",
        "min_by",
        "mode",
        "percentile",
        "percentile_approx",
        "percentile_cont",
        "percentile_disc",
        "regr_avgx",
        "regr_avgy",
        "regr_count",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "skewness",
        "some",
        "std",
        "stddev",
        "stddev_pop",
        "stddev_samp",
        "string_agg",
        "try_avg",
        "try_sum",
        "var_pop",
        "var_samp",
        "variance",
        "bitmap_or_agg",
        "hll_sketch_agg",
        "bitmap_construct_agg",
        "hll_union_agg",
        "group_concat",
        "grouping",
    ]
)
"""The aggregates of Spark SQL."""

_OWN = frozenset(
    [
        "add_days",
        "add_seconds",
        "add_micros",
        "split_item",
        "split_element",
        "split_size",
        "seconds_of",
        "int_div",
        "days_between",
        "when",
        "div",
        "in",
        "and",
        "or",
        "not",
        "like",
        "bool",
        "string",
    ]
)
"""Names of the calculus that nobody writes in SQL."""

SPECIAL = (
    *("nvl", "ifnull", "nullif", "coalesce", "date_add", "date_sub", "datediff", "to_date"),
    *("dayofmonth", "pow", "substr", "ceiling"),
)
"""What is written in SQL, and is none of the functions of the calculus."""


def unknown_function(fn: str, known: Iterable[str]) -> FreshviewError:
    """The error about a function of this name.

    >>> print(unknown_function("uper", ["upper", "lower"]))
    there is no function 'uper'; the nearest one is upper
    """
    name = fn.upper()
    kinds = (
        (
            _MOMENT,
            f"{name} outside of a condition, where every row would change with the clock,",
            "compare with it in WHERE, HAVING or ON",
        ),
        (_SESSION, f"{name}, which depends on the session,", "write the value"),
        (_RANDOM, f"{name}, which is another at each look,", "store the value with the row"),
        (
            _ROWS,
            f"{name}, which makes several rows of one,",
            "store the elements as rows, and join",
        ),
        (
            _NESTED,
            f"{name}, which is about arrays, maps or structs,",
            "keep the elements as columns or rows; SPLIT(s, ',')[0] takes one out of a text",
        ),
        (
            AGGREGATES,
            f"the aggregate {name}",
            "compute it from COUNT, SUM, AVG, MIN and MAX",
        ),
    )
    for names, what, instead in kinds:
        if fn in names:
            return UnsupportedSql(f"{what} is not supported", instead=instead)
    pool = {
        n
        for n in (*known, *SPECIAL, *AGGREGATES)
        if n not in _OWN and not n.startswith(("cast_", "try_"))
    }
    near = get_close_matches(fn, sorted(pool), n=3, cutoff=0.7)
    if not near:
        return UnknownFunction(
            f"there is no function '{fn}'",
            instead="CREATE FUNCTION and register_function make one of your own known",
        )
    which = "the nearest one is" if len(near) == 1 else "the nearest ones are"
    return UnknownFunction(f"there is no function '{fn}'", instead=f"{which} {_listed(near)}")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
