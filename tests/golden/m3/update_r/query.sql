CREATE TYPE Ring FROM FILE "'ring.hpp'";
CREATE STREAM R(A int, B double, F double)
  FROM FILE './datasets/thesis/R.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE S(A int, C int, E int)
  FROM FILE './datasets/thesis/S.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE T(C int, D int)
  FROM FILE './datasets/thesis/T.tbl' LINE DELIMITED CSV(delimiter := '|');
SELECT SUM([f_A: Ring](A) * [f_B: Ring](B) * [f_F: Ring](F) * [f_D: Ring](D))
FROM R NATURAL JOIN S NATURAL JOIN T
