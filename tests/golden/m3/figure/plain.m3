-- RELATIONS ---------------------------------------------------------------------------------------
CREATE STREAM R(A int, B int, C int, extra int);
CREATE TABLE S(A int, B int, D int);
CREATE TABLE T(A int, E int);
CREATE TABLE U(E int, F int);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP VIEW_U(long)[][E: int, F: int] := 0L;
DECLARE MAP VIEW_T(long)[][A: int, E: int] := 0L;
DECLARE MAP AGG_VIEW_E(long)[][A: int] := AggSum([A], (T(A, E) * AggSum([E], U(E, F))));
DECLARE MAP VIEW_S(long)[][A: int, B: int, D: int] := 0L;
DECLARE MAP AGG_VIEW_D(long)[][A: int, B: int] := AggSum([A, B], S(A, B, D));
DECLARE MAP AGG_VIEW_A(long)[][] := AggSum([],
    (AggSum([A], (AggSum([A, B], R(A, B, C, extra)) * AggSum([A, B], S(A, B, D))))
        * AggSum([A], (T(A, E) * AggSum([E], U(E, F))))
        * A)
);
DECLARE MAP DELTA_AGG_VIEW_A(long)[][] := AggSum([],
    (AggSum([A], (AggSum([A, B], (DELTA R)(A, B, C, extra)) * AGG_VIEW_D(long)[][A, B]))
        * AGG_VIEW_E(long)[][A]
        * A)
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY SUM := AGG_VIEW_A(long)[][];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON SYSTEM READY {
    AGG_VIEW_E(long)[][A] := AggSum([A],
        (VIEW_T(long)[][A, E] * AggSum([E], VIEW_U(long)[][E, F]))
    );
    AGG_VIEW_D(long)[][A, B] := AggSum([A, B], VIEW_S(long)[][A, B, D]);
}
ON BATCH UPDATE OF R {
    DELTA_AGG_VIEW_A(long)[][] := AggSum([],
        (AggSum([A], (AggSum([A, B], (DELTA R)(A, B, C, extra)) * AGG_VIEW_D(long)[][A, B]))
            * AGG_VIEW_E(long)[][A]
            * A)
    );
    AGG_VIEW_A(long)[][] += DELTA_AGG_VIEW_A(long)[][];
}
