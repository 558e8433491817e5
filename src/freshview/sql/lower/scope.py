"""Which column a name means: the FROM items of a SELECT, then those of the SELECTs around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshview.calculus.types import Type
from freshview.errors import AmbiguousName, UnknownName
from freshview.sql.terms import Name, Ref


@dataclass(frozen=True, slots=True)
class Bound:
    """A column and the variable that holds it."""

    name: str
    var: str
    type: Type


@dataclass(frozen=True, slots=True)
class FromItem:
    """One table instance in FROM.

    `key` are variables that determine its row, `row_key` those by which no two of its rows are
    equal, where NULL equals NULL; `time` is its event time.
    """

    alias: str
    columns: tuple[Bound, ...]
    key: tuple[str, ...] = ()
    time: Bound | None = None
    row_key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scope:
    """The names that an expression may use.

    `plain` is what unqualified names and `*` see: after USING a common column stands there once.
    `grouped` are the variables that survive GROUP BY; None before it.
    """

    items: tuple[FromItem, ...] = ()
    plain: tuple[Bound, ...] = ()
    outer: Scope | None = None
    grouped: frozenset[str] | None = None

    def find(self, name: Name) -> Bound:
        """The column that a name means, here or further out."""
        scope: Scope | None = self
        while scope is not None:
            column = scope._here(name)
            if column is not None:
                if scope.grouped is not None and scope is not self:
                    scope.check_grouped(Ref(column.var, column.type, column.name, name.at))
                return column
            scope = scope.outer
        shown = f"{name.table}.{name.name}" if name.table else name.name
        raise UnknownName(f"there is no column '{shown}'", instead=self._known_names(), at=name.at)

    def _here(self, name: Name) -> Bound | None:
        if name.table is None:
            columns = self.plain
        else:
            item = self.item(name.table)
            if item is None:
                field = f"{name.table}.{name.name}".lower()
                known = any(c.name.lower() == field for c in self.plain)
                return self._here(Name(field, None, name.at)) if known else None
            columns = item.columns
        matches = [c for c in columns if c.name.lower() == name.name.lower()]
        if len(matches) > 1:
            raise AmbiguousName(
                f"column '{name.name}' is in more than one table here",
                instead=f"write table.{name.name}",
                at=name.at,
            )
        if not matches and name.table is not None:
            raise UnknownName(
                f"'{name.table}' has no column '{name.name}'",
                instead="it has " + ", ".join(c.name for c in columns),
                at=name.at,
            )
        return matches[0] if matches else None

    def fields(self, struct: str) -> tuple[Bound, ...]:
        """The columns of a struct: those whose names begin with its own and a point."""
        return tuple(c for c in self.plain if c.name.lower().startswith(f"{struct.lower()}."))

    def _known_names(self) -> str:
        names = ", ".join(dict.fromkeys(c.name for c in self.plain))
        return f"the columns here are {names}" if names else "there is no table in FROM"

    def item(self, alias: str) -> FromItem | None:
        """The FROM item of an alias in this very scope."""
        for item in self.items:
            if item.alias.lower() == alias.lower():
                return item
        return None

    def is_local(self, var: str) -> bool:
        """Whether a variable is a column of this very scope."""
        return self.owner(var) is not None

    def owner(self, var: str) -> str | None:
        """The alias of the FROM item here that a variable is a column of."""
        for item in self.items:
            if any(c.var == var for c in item.columns):
                return item.alias
        return "" if any(c.var == var for c in self.plain) else None

    def check_grouped(self, ref: Ref) -> None:
        """Refuse a column that GROUP BY did not keep."""
        if self.grouped is None or ref.var in self.grouped or not self.is_local(ref.var):
            return
        raise UnknownName(
            f"column '{ref.name}' is neither in GROUP BY nor inside an aggregate",
            instead="add it to GROUP BY, or take MIN or MAX of it",
            at=ref.at,
        )

    def without_null(self, variables: frozenset[str]) -> Scope:
        """The same scope, knowing that these variables are not NULL."""

        def known(columns: tuple[Bound, ...]) -> tuple[Bound, ...]:
            return tuple(
                replace(c, type=c.type.not_null()) if c.var in variables else c for c in columns
            )

        items = tuple(replace(i, columns=known(i.columns)) for i in self.items)
        return replace(self, items=items, plain=known(self.plain))


def hint(*words: str) -> str:
    """What to call a variable after these names, so that it can be printed and read back.

    >>> hint("Orders", "total price"), hint("2nd"), hint("null")
    ('orders_total_price', 'c_2nd', 'c_null')
    """
    text = "_".join(words).lower()
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in text).strip("_")
    reserved = ("null", "true", "false", "date", "timestamp")
    return word if word[:1].isalpha() and word not in reserved else f"c_{word}"
