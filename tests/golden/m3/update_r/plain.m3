-- TYPES -------------------------------------------------------------------------------------------
CREATE TYPE Ring FROM FILE 'ring.hpp';

-- RELATIONS ---------------------------------------------------------------------------------------
CREATE STREAM R(A int, B double, F double);
CREATE TABLE S(A int, C int, E int);
CREATE TABLE T(C int, D int);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP VIEW_T(long)[][C: int, D: int] := 0L;
DECLARE MAP VIEW_S(long)[][A: int, C: int, E: int] := 0L;
DECLARE MAP AGG_VIEW_C(Ring)[][A: int] := AggSum([A],
    (AggSum([A, C], S(A, C, E)) * AggSum([C], (T(C, D) * [f_D: Ring](D))))
);
DECLARE MAP AGG_VIEW_A(Ring)[][] := AggSum([],
    (AggSum([A], (R(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F))))
        * AggSum([A], (AggSum([A, C], S(A, C, E)) * AggSum([C], (T(C, D) * [f_D: Ring](D)))))
        * [f_A: Ring](A))
);
DECLARE MAP DELTA_AGG_VIEW_A(Ring)[][] := AggSum([],
    (AggSum([A], ((DELTA R)(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F))))
        * AGG_VIEW_C(Ring)[][A]
        * [f_A: Ring](A))
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY SUM := AGG_VIEW_A(Ring)[][];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON SYSTEM READY {
    AGG_VIEW_C(Ring)[][A] := AggSum([A],
        (AggSum([A, C], VIEW_S(long)[][A, C, E])
            * AggSum([C], (VIEW_T(long)[][C, D] * [f_D: Ring](D))))
    );
}
ON BATCH UPDATE OF R {
    DELTA_AGG_VIEW_A(Ring)[][] := AggSum([],
        (AggSum([A], ((DELTA R)(A, B, F) * ([f_B: Ring](B) * [f_F: Ring](F))))
            * AGG_VIEW_C(Ring)[][A]
            * [f_A: Ring](A))
    );
    AGG_VIEW_A(Ring)[][] += DELTA_AGG_VIEW_A(Ring)[][];
}
