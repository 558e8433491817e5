-- Listing 4.8 as it is printed.
CREATE TYPE Ring
FROM FILE "'ring.hpp'";
CREATE TABLE R(A int, B double)
FROM FILE './datasets/thesis/R.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE S(A int, C int, E int)
FROM FILE './datasets/thesis/S.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE T(C int, D int)
FROM FILE './datasets/thesis/T.tbl' LINE DELIMITED CSV(delimiter := '|');
SELECT E, D, SUM([f_A: Ring](A) * (A * 2) * (B + 1) * C * C)
FROM R NATURAL JOIN S NATURAL JOIN T
GROUP BY E, D;
