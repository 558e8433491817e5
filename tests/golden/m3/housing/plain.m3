-- RELATIONS ---------------------------------------------------------------------------------------
CREATE STREAM HOUSE(postcode double, h2 double, h3 double, h4 double, h5 double, h6 double);
CREATE STREAM SHOP(postcode double, s2 double, s3 double, s4 double, s5 double, s6 double);
CREATE TABLE INSTITUTION(postcode double, i2 double, i3 double);
CREATE TABLE RESTAURANT(postcode double, r2 double, r3 double);
CREATE TABLE DEMOGRAPHICS(postcode double, d2 double, d3 double, d4 double, d5 double);
CREATE TABLE TRANSPORT(postcode double, t2 double, t3 double, t4 double);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP VIEW_TRANSPORT(long)[][postcode: double, t2: double, t3: double, t4: double] := 0L;
DECLARE MAP AGG_VIEW_t2(long)[][postcode: double] := AggSum([postcode],
    TRANSPORT(postcode, t2, t3, t4)
);
DECLARE MAP VIEW_DEMOGRAPHICS(long)[][postcode: double, d2: double, d3: double, d4: double, d5: double] := 0L;
DECLARE MAP AGG_VIEW_d2(long)[][postcode: double] := AggSum([postcode],
    DEMOGRAPHICS(postcode, d2, d3, d4, d5)
);
DECLARE MAP VIEW_RESTAURANT(long)[][postcode: double, r2: double, r3: double] := 0L;
DECLARE MAP AGG_VIEW_r2(long)[][postcode: double] := AggSum([postcode],
    RESTAURANT(postcode, r2, r3)
);
DECLARE MAP VIEW_INSTITUTION(long)[][postcode: double, i2: double, i3: double] := 0L;
DECLARE MAP AGG_VIEW_i2(long)[][postcode: double] := AggSum([postcode],
    INSTITUTION(postcode, i2, i3)
);
DECLARE MAP AGG_VIEW_s2(long)[][postcode: double] := AggSum([postcode],
    SHOP(postcode, s2, s3, s4, s5, s6)
);
DECLARE MAP DELTA_AGG_VIEW_s2(long)[][postcode: double] := AggSum([postcode],
    (DELTA SHOP)(postcode, s2, s3, s4, s5, s6)
);
DECLARE MAP AGG_VIEW_h2(double)[][postcode: double] := AggSum([postcode],
    (HOUSE(postcode, h2, h3, h4, h5, h6) * ((5.0e0 * (h2 + 1.0e0)) * h3))
);
DECLARE MAP DELTA_AGG_VIEW_h2(double)[][postcode: double] := AggSum([postcode],
    ((DELTA HOUSE)(postcode, h2, h3, h4, h5, h6) * ((5.0e0 * (h2 + 1.0e0)) * h3))
);
DECLARE MAP AGG_VIEW_postcode(double)[][] := AggSum([],
    (AggSum([postcode], (HOUSE(postcode, h2, h3, h4, h5, h6) * ((5.0e0 * (h2 + 1.0e0)) * h3)))
        * AggSum([postcode], SHOP(postcode, s2, s3, s4, s5, s6))
        * AggSum([postcode], INSTITUTION(postcode, i2, i3))
        * AggSum([postcode], RESTAURANT(postcode, r2, r3))
        * AggSum([postcode], DEMOGRAPHICS(postcode, d2, d3, d4, d5))
        * AggSum([postcode], TRANSPORT(postcode, t2, t3, t4))
        * postcode
        * postcode)
);
DECLARE MAP DELTA_AGG_VIEW_postcode(double)[][] := AggSum([],
    (DELTA_AGG_VIEW_h2(double)[][postcode]
        * AGG_VIEW_s2(long)[][postcode]
        * AGG_VIEW_i2(long)[][postcode]
        * AGG_VIEW_r2(long)[][postcode]
        * AGG_VIEW_d2(long)[][postcode]
        * AGG_VIEW_t2(long)[][postcode]
        * postcode
        * postcode)
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY SUM := AGG_VIEW_postcode(double)[][];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON SYSTEM READY {
    AGG_VIEW_t2(long)[][postcode] := AggSum([postcode],
        VIEW_TRANSPORT(long)[][postcode, t2, t3, t4]
    );
    AGG_VIEW_d2(long)[][postcode] := AggSum([postcode],
        VIEW_DEMOGRAPHICS(long)[][postcode, d2, d3, d4, d5]
    );
    AGG_VIEW_r2(long)[][postcode] := AggSum([postcode], VIEW_RESTAURANT(long)[][postcode, r2, r3]);
    AGG_VIEW_i2(long)[][postcode] := AggSum([postcode], VIEW_INSTITUTION(long)[][postcode, i2, i3]);
}
ON BATCH UPDATE OF HOUSE {
    DELTA_AGG_VIEW_h2(double)[][postcode] := AggSum([postcode],
        ((DELTA HOUSE)(postcode, h2, h3, h4, h5, h6) * ((5.0e0 * (h2 + 1.0e0)) * h3))
    );
    AGG_VIEW_h2(double)[][postcode] += DELTA_AGG_VIEW_h2(double)[][postcode];
    DELTA_AGG_VIEW_postcode(double)[][] := AggSum([],
        (DELTA_AGG_VIEW_h2(double)[][postcode]
            * AGG_VIEW_s2(long)[][postcode]
            * AGG_VIEW_i2(long)[][postcode]
            * AGG_VIEW_r2(long)[][postcode]
            * AGG_VIEW_d2(long)[][postcode]
            * AGG_VIEW_t2(long)[][postcode]
            * postcode
            * postcode)
    );
    AGG_VIEW_postcode(double)[][] += DELTA_AGG_VIEW_postcode(double)[][];
}
ON BATCH UPDATE OF SHOP {
    DELTA_AGG_VIEW_s2(long)[][postcode] := AggSum([postcode],
        (DELTA SHOP)(postcode, s2, s3, s4, s5, s6)
    );
    AGG_VIEW_s2(long)[][postcode] += DELTA_AGG_VIEW_s2(long)[][postcode];
    DELTA_AGG_VIEW_postcode(double)[][] := AggSum([],
        (AGG_VIEW_h2(double)[][postcode]
            * DELTA_AGG_VIEW_s2(long)[][postcode]
            * AGG_VIEW_i2(long)[][postcode]
            * AGG_VIEW_r2(long)[][postcode]
            * AGG_VIEW_d2(long)[][postcode]
            * AGG_VIEW_t2(long)[][postcode]
            * postcode
            * postcode)
    );
    AGG_VIEW_postcode(double)[][] += DELTA_AGG_VIEW_postcode(double)[][];
}
