-- RELATIONS ---------------------------------------------------------------------------------------
CREATE STREAM HOUSE(postcode int, h2 int, h3 int);
CREATE STREAM SHOP(postcode int, s2 int);
CREATE TABLE TRANSPORT(postcode int, t2 int);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP VIEW_TRANSPORT(long)[][postcode: int, t2: int] := 0L;
DECLARE MAP AGG_VIEW_t2(long)[][postcode: int] := AggSum([postcode], TRANSPORT(postcode, t2));
DECLARE MAP AGG_VIEW_s2(long)[][postcode: int] := AggSum([postcode], SHOP(postcode, s2));
DECLARE MAP DELTA_AGG_VIEW_s2(long)[][postcode: int] := AggSum([postcode],
    (DELTA SHOP)(postcode, s2)
);
DECLARE MAP AGG_VIEW_h2(long)[][postcode: int] := AggSum([postcode],
    (HOUSE(postcode, h2, h3) * {h2 > 3})
);
DECLARE MAP DELTA_AGG_VIEW_h2(long)[][postcode: int] := AggSum([postcode],
    ((DELTA HOUSE)(postcode, h2, h3) * {h2 > 3})
);
DECLARE MAP AGG_VIEW_postcode(long)[][] := AggSum([],
    (AggSum([postcode], (HOUSE(postcode, h2, h3) * {h2 > 3}))
        * AggSum([postcode], SHOP(postcode, s2))
        * AggSum([postcode], TRANSPORT(postcode, t2)))
);
DECLARE MAP DELTA_AGG_VIEW_postcode(long)[][] := AggSum([],
    (DELTA_AGG_VIEW_h2(long)[][postcode]
        * AGG_VIEW_s2(long)[][postcode]
        * AGG_VIEW_t2(long)[][postcode])
);
DECLARE MAP AGG_VIEW_postcode_2(Pair)[][] := AggSum([],
    (AggSum([postcode], (HOUSE(postcode, h2, h3) * {h2 > 3}))
        * AggSum([postcode], SHOP(postcode, s2))
        * AggSum([postcode], TRANSPORT(postcode, t2))
        * [pair: Pair](postcode))
);
DECLARE MAP DELTA_AGG_VIEW_postcode_2(Pair)[][] := AggSum([],
    (DELTA_AGG_VIEW_h2(long)[][postcode]
        * AGG_VIEW_s2(long)[][postcode]
        * AGG_VIEW_t2(long)[][postcode]
        * [pair: Pair](postcode))
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY COUNT := AGG_VIEW_postcode(long)[][];
DECLARE QUERY SUM := AGG_VIEW_postcode_2(Pair)[][];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON SYSTEM READY {
    AGG_VIEW_t2(long)[][postcode] := AggSum([postcode], VIEW_TRANSPORT(long)[][postcode, t2]);
}
ON BATCH UPDATE OF HOUSE {
    DELTA_AGG_VIEW_h2(long)[][postcode] := AggSum([postcode],
        ((DELTA HOUSE)(postcode, h2, h3) * {h2 > 3})
    );
    AGG_VIEW_h2(long)[][postcode] += DELTA_AGG_VIEW_h2(long)[][postcode];
    DELTA_AGG_VIEW_postcode(long)[][] := AggSum([],
        (DELTA_AGG_VIEW_h2(long)[][postcode]
            * AGG_VIEW_s2(long)[][postcode]
            * AGG_VIEW_t2(long)[][postcode])
    );
    AGG_VIEW_postcode(long)[][] += DELTA_AGG_VIEW_postcode(long)[][];
    DELTA_AGG_VIEW_postcode_2(Pair)[][] := AggSum([],
        (DELTA_AGG_VIEW_h2(long)[][postcode]
            * AGG_VIEW_s2(long)[][postcode]
            * AGG_VIEW_t2(long)[][postcode]
            * [pair: Pair](postcode))
    );
    AGG_VIEW_postcode_2(Pair)[][] += DELTA_AGG_VIEW_postcode_2(Pair)[][];
}
ON BATCH UPDATE OF SHOP {
    DELTA_AGG_VIEW_s2(long)[][postcode] := AggSum([postcode], (DELTA SHOP)(postcode, s2));
    AGG_VIEW_s2(long)[][postcode] += DELTA_AGG_VIEW_s2(long)[][postcode];
    DELTA_AGG_VIEW_postcode(long)[][] := AggSum([],
        (AGG_VIEW_h2(long)[][postcode]
            * DELTA_AGG_VIEW_s2(long)[][postcode]
            * AGG_VIEW_t2(long)[][postcode])
    );
    AGG_VIEW_postcode(long)[][] += DELTA_AGG_VIEW_postcode(long)[][];
    DELTA_AGG_VIEW_postcode_2(Pair)[][] := AggSum([],
        (AGG_VIEW_h2(long)[][postcode]
            * DELTA_AGG_VIEW_s2(long)[][postcode]
            * AGG_VIEW_t2(long)[][postcode]
            * [pair: Pair](postcode))
    );
    AGG_VIEW_postcode_2(Pair)[][] += DELTA_AGG_VIEW_postcode_2(Pair)[][];
}
