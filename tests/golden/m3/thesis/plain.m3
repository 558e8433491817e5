-- TYPES -------------------------------------------------------------------------------------------
CREATE TYPE Ring FROM FILE 'ring.hpp';

-- RELATIONS ---------------------------------------------------------------------------------------
CREATE STREAM R(A int, B double, F double);
CREATE STREAM S(A int, C int, E int);
CREATE STREAM T(C int, D int);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP AGG_VIEW_D(Ring)[][C: int] := AggSum([C], (T(C, D) * [f_D: Ring](D)));
DECLARE MAP DELTA_AGG_VIEW_D(Ring)[][C: int] := AggSum([C], ((DELTA T)(C, D) * [f_D: Ring](D)));
DECLARE MAP AGG_VIEW_E(long)[][A: int, C: int] := AggSum([A, C], S(A, C, E));
DECLARE MAP DELTA_AGG_VIEW_E(long)[][A: int, C: int] := AggSum([A, C], (DELTA S)(A, C, E));
DECLARE MAP AGG_VIEW_C(Ring)[][A: int] := AggSum([A],
    (AggSum([A, C], S(A, C, E)) * AggSum([C], (T(C, D) * [f_D: Ring](D))))
);
DECLARE MAP DELTA_AGG_VIEW_C(Ring)[][A: int] := AggSum([A],
    (DELTA_AGG_VIEW_E(long)[][A, C] * AGG_VIEW_D(Ring)[][C])
);
DECLARE MAP AGG_VIEW_B(Ring)[][A: int] := AggSum([A],
    (R(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F)))
);
DECLARE MAP DELTA_AGG_VIEW_B(Ring)[][A: int] := AggSum([A],
    ((DELTA R)(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F)))
);
DECLARE MAP AGG_VIEW_A(Ring)[][] := AggSum([],
    (AggSum([A], (R(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F))))
        * AggSum([A], (AggSum([A, C], S(A, C, E)) * AggSum([C], (T(C, D) * [f_D: Ring](D)))))
        * [f_A: Ring](A))
);
DECLARE MAP DELTA_AGG_VIEW_A(Ring)[][] := AggSum([],
    ((DELTA_AGG_VIEW_B(Ring)[][A] * AGG_VIEW_C(Ring)[][A]) * [f_A: Ring](A))
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY SUM := AGG_VIEW_A(Ring)[][];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON BATCH UPDATE OF R {
    DELTA_AGG_VIEW_B(Ring)[][A] := AggSum([A],
        ((DELTA R)(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F)))
    );
    AGG_VIEW_B(Ring)[][A] += DELTA_AGG_VIEW_B(Ring)[][A];
    DELTA_AGG_VIEW_A(Ring)[][] := AggSum([],
        ((DELTA_AGG_VIEW_B(Ring)[][A] * AGG_VIEW_C(Ring)[][A]) * [f_A: Ring](A))
    );
    AGG_VIEW_A(Ring)[][] += DELTA_AGG_VIEW_A(Ring)[][];
}
ON BATCH UPDATE OF S {
    DELTA_AGG_VIEW_E(long)[][A, C] := AggSum([A, C], (DELTA S)(A, C, E));
    AGG_VIEW_E(long)[][A, C] += DELTA_AGG_VIEW_E(long)[][A, C];
    DELTA_AGG_VIEW_C(Ring)[][A] := AggSum([A],
        (DELTA_AGG_VIEW_E(long)[][A, C] * AGG_VIEW_D(Ring)[][C])
    );
    AGG_VIEW_C(Ring)[][A] += DELTA_AGG_VIEW_C(Ring)[][A];
    DELTA_AGG_VIEW_A(Ring)[][] := AggSum([],
        ((AGG_VIEW_B(Ring)[][A] * DELTA_AGG_VIEW_C(Ring)[][A]) * [f_A: Ring](A))
    );
    AGG_VIEW_A(Ring)[][] += DELTA_AGG_VIEW_A(Ring)[][];
}
ON BATCH UPDATE OF T {
    DELTA_AGG_VIEW_D(Ring)[][C] := AggSum([C], ((DELTA T)(C, D) * [f_D: Ring](D)));
    AGG_VIEW_D(Ring)[][C] += DELTA_AGG_VIEW_D(Ring)[][C];
    DELTA_AGG_VIEW_C(Ring)[][A] := AggSum([A],
        (AGG_VIEW_E(long)[][A, C] * DELTA_AGG_VIEW_D(Ring)[][C])
    );
    AGG_VIEW_C(Ring)[][A] += DELTA_AGG_VIEW_C(Ring)[][A];
    DELTA_AGG_VIEW_A(Ring)[][] := AggSum([],
        ((AGG_VIEW_B(Ring)[][A] * DELTA_AGG_VIEW_C(Ring)[][A]) * [f_A: Ring](A))
    );
    AGG_VIEW_A(Ring)[][] += DELTA_AGG_VIEW_A(Ring)[][];
}
