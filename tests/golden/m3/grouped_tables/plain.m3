-- TYPES -------------------------------------------------------------------------------------------
CREATE TYPE Ring FROM FILE 'ring.hpp';

-- RELATIONS ---------------------------------------------------------------------------------------
CREATE TABLE R(A int, B double);
CREATE TABLE S(A int, C int, E int);
CREATE TABLE T(C int, D int);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP VIEW_T(long)[][C: int, D: int] := 0L;
DECLARE MAP VIEW_S(long)[][A: int, C: int, E: int] := 0L;
DECLARE MAP VIEW_R(long)[][A: int, B: double] := 0L;
DECLARE MAP AGG_VIEW_E(Ring)[][E: int, D: int] := AggSum([E, D],
    (AggSum([E, C],
        ((AggSum([A], (R(A, B) * (B + 1.0e0))) * S(A, C, E)) * ((2 * [f_A: Ring](A)) * A))
    )
        * T(C, D)
        * C
        * C)
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY SUM := AGG_VIEW_E(Ring)[][E, D];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON SYSTEM READY {
    AGG_VIEW_E(Ring)[][E, D] := AggSum([E, D],
        (AggSum([E, C],
            (2
                * AggSum([A], (VIEW_R(long)[][A, B] * (B + 1.0e0)))
                * VIEW_S(long)[][A, C, E]
                * [f_A: Ring](A)
                * A)
        )
            * VIEW_T(long)[][C, D]
            * C
            * C)
    );
}
