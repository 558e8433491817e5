"""Matrix programs as text, and what is wrong with some of them."""

from __future__ import annotations

import pytest

from freshview.errors import FreshviewError
from freshview.linear.compile.normal import check
from freshview.linear.language.show import show, show_source
from freshview.linear.language.text import read, read_source

PROGRAM = """semiring min-plus;
dynamic G(n, n) symmetric;
static Y(n, 2*p + 1);
x := iterate(4, eye(n), a => G * a + eye(n));
output b := let D = x * Y in [D, Y];
"""

TERMS = [
    "A * B' - 2 * C",
    "inv(A + 0.5 * eye(n)) * [u, v]",
    "[A, B; C, D]",
    "iterate(3, A, x => x * x + ones(n, n))",
    "let D = u * v' in D * G + G * D",
    "-1 * (A + B) * C",
    "zeros(n, m)",
    "inv(A)'",
]


def test_program_reads_back() -> None:
    source = read_source(PROGRAM)
    assert show_source(source) == PROGRAM
    assert read_source(show_source(source)) == source


@pytest.mark.parametrize("text", TERMS)
def test_term_reads_back(text: str) -> None:
    assert read(show(read(text))) == read(text)


def test_sizes_of_other_terms() -> None:
    source = read_source("dynamic A(n, m); output B := A * ones(cols(A), rows(A * A'));")
    assert show(source.statements[0].term) == "A * ones(m, n)"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("dynamic A(n, m);\noutput B := A * A;", "<text>:2:1: A * A multiplies n x m by n x m"),
        ("dynamic A(n, m); B := A + A';", "<text>:1:18: A + A' adds n x m and m x n"),
        ("dynamic A(n, m); B := inv(A);", "inv(A) inverts a matrix of n x m"),
        ("dynamic A(n, m); B := [A, A'];", "[A, A'] stacks n and m rows"),
        ("dynamic A(n, m); B := C;", "there is no matrix C"),
        ("dynamic A(n, m) symmetric;", "A is declared symmetric, but is n x m"),
        ("dynamic A(n, m); B := iterate(2, A, x => x * x');", "starts from n x m and makes n x n"),
        ("dynamic A(n, n); B := A + 1;", "'+' between a number and a matrix"),
        ("dynamic A(n, n); B := A *;", "expected a matrix but found ';'"),
        ("dynamic A(n, n); A := A;", "A is defined twice"),
        ("dynamic A(n, n); B := A $ A;", "cannot read '$'"),
        ("dynamic A(n, n); B := 3;", "this is a number"),
    ],
)
def test_complaints(text: str, complaint: str) -> None:
    with pytest.raises(FreshviewError) as e:
        read_source(text)
    assert complaint in str(e.value)
    assert "\n" not in str(e.value)


def test_semirings_have_no_inverse() -> None:
    source = read_source("semiring boolean; dynamic A(n, n); output B := inv(A);")
    with pytest.raises(FreshviewError, match="the semiring boolean has no inverses"):
        check(source)
