-- TYPES -------------------------------------------------------------------------------------------
CREATE TYPE Ring FROM FILE '../grouped_tables/ring.hpp';

-- RELATIONS ---------------------------------------------------------------------------------------
CREATE STREAM R(A int, B double);
CREATE STREAM S(A int, C int, E int);
CREATE STREAM T(C int, D int);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP VIEW_T(long)[][C: int, D: int] := T(C, D);
DECLARE MAP VIEW_S(long)[][A: int, C: int, E: int] := S(A, C, E);
DECLARE MAP AGG_VIEW_B(double)[][A: int] := AggSum([A], (R(A, B) * (B + 1.0e0)));
DECLARE MAP DELTA_AGG_VIEW_B(double)[][A: int] := AggSum([A], ((DELTA R)(A, B) * (B + 1.0e0)));
DECLARE MAP AGG_VIEW_A(Ring)[][E: int, C: int] := AggSum([E, C],
    ((AggSum([A], (R(A, B) * (B + 1.0e0))) * S(A, C, E)) * ((2 * [f_A: Ring](A)) * A))
);
DECLARE MAP DELTA_AGG_VIEW_A(Ring)[][E: int, C: int] := AggSum([E, C],
    ((DELTA_AGG_VIEW_B(double)[][A] * VIEW_S(long)[][A, C, E]) * ((2 * [f_A: Ring](A)) * A))
);
DECLARE MAP AGG_VIEW_E(Ring)[][E: int, D: int] := AggSum([E, D],
    (AggSum([E, C],
        ((AggSum([A], (R(A, B) * (B + 1.0e0))) * S(A, C, E)) * ((2 * [f_A: Ring](A)) * A))
    )
        * T(C, D)
        * C
        * C)
);
DECLARE MAP DELTA_AGG_VIEW_E(Ring)[][E: int, D: int] := AggSum([E, D],
    ((DELTA_AGG_VIEW_A(Ring)[][E, C] * VIEW_T(long)[][C, D]) * (C * C))
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY SUM := AGG_VIEW_E(Ring)[][E, D];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON BATCH UPDATE OF R {
    DELTA_AGG_VIEW_B(double)[][A] := AggSum([A], ((DELTA R)(A, B) * (B + 1.0e0)));
    AGG_VIEW_B(double)[][A] += DELTA_AGG_VIEW_B(double)[][A];
    DELTA_AGG_VIEW_A(Ring)[][E, C] := AggSum([E, C],
        ((DELTA_AGG_VIEW_B(double)[][A] * VIEW_S(long)[][A, C, E]) * ((2 * [f_A: Ring](A)) * A))
    );
    AGG_VIEW_A(Ring)[][E, C] += DELTA_AGG_VIEW_A(Ring)[][E, C];
    DELTA_AGG_VIEW_E(Ring)[][E, D] := AggSum([E, D],
        ((DELTA_AGG_VIEW_A(Ring)[][E, C] * VIEW_T(long)[][C, D]) * (C * C))
    );
    AGG_VIEW_E(Ring)[][E, D] += DELTA_AGG_VIEW_E(Ring)[][E, D];
}
ON BATCH UPDATE OF S {
    VIEW_S(long)[][A, C, E] += (DELTA S)(A, C, E);
    DELTA_AGG_VIEW_A(Ring)[][E, C] := AggSum([E, C],
        ((AGG_VIEW_B(double)[][A] * (DELTA S)(A, C, E)) * ((2 * [f_A: Ring](A)) * A))
    );
    AGG_VIEW_A(Ring)[][E, C] += DELTA_AGG_VIEW_A(Ring)[][E, C];
    DELTA_AGG_VIEW_E(Ring)[][E, D] := AggSum([E, D],
        ((DELTA_AGG_VIEW_A(Ring)[][E, C] * VIEW_T(long)[][C, D]) * (C * C))
    );
    AGG_VIEW_E(Ring)[][E, D] += DELTA_AGG_VIEW_E(Ring)[][E, D];
}
ON BATCH UPDATE OF T {
    VIEW_T(long)[][C, D] += (DELTA T)(C, D);
    DELTA_AGG_VIEW_E(Ring)[][E, D] := AggSum([E, D],
        ((AGG_VIEW_A(Ring)[][E, C] * (DELTA T)(C, D)) * (C * C))
    );
    AGG_VIEW_E(Ring)[][E, D] += DELTA_AGG_VIEW_E(Ring)[][E, D];
}
