-- Listing 4.8 over streams: explicit functions beside a lifting function, free variables.
CREATE TYPE Ring FROM FILE '../grouped_tables/ring.hpp';
CREATE STREAM R(A int, B double);
CREATE STREAM S(A int, C int, E int);
CREATE STREAM T(C int, D int);
SELECT E, D, SUM([f_A: Ring](A) * (A * 2) * (B + 1) * C * C)
FROM R NATURAL JOIN S NATURAL JOIN T
GROUP BY E, D;
