-- RELATIONS ---------------------------------------------------------------------------------------
CREATE TABLE HOUSE(postcode double, h2 double, h3 double, h4 double, h5 double, h6 double);
CREATE TABLE SHOP(postcode double, s2 double, s3 double, s4 double, s5 double, s6 double);
CREATE TABLE INSTITUTION(postcode double, i2 double, i3 double);
CREATE TABLE RESTAURANT(postcode double, r2 double, r3 double);
CREATE TABLE DEMOGRAPHICS(postcode double, d2 double, d3 double, d4 double, d5 double);
CREATE TABLE TRANSPORT(postcode double, t2 double, t3 double, t4 double);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP VIEW_TRANSPORT(long)[][postcode: double, t2: double, t3: double, t4: double] := 0L;
DECLARE MAP VIEW_DEMOGRAPHICS(long)[][postcode: double, d2: double, d3: double, d4: double, d5: double] := 0L;
DECLARE MAP VIEW_RESTAURANT(long)[][postcode: double, r2: double, r3: double] := 0L;
DECLARE MAP VIEW_INSTITUTION(long)[][postcode: double, i2: double, i3: double] := 0L;
DECLARE MAP VIEW_SHOP(long)[][postcode: double, s2: double, s3: double, s4: double, s5: double, s6: double] := 0L;
DECLARE MAP VIEW_HOUSE(long)[][postcode: double, h2: double, h3: double, h4: double, h5: double, h6: double] := 0L;
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

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY SUM := AGG_VIEW_postcode(double)[][];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON SYSTEM READY {
    AGG_VIEW_postcode(double)[][] := AggSum([],
        (AggSum([postcode],
            (VIEW_HOUSE(long)[][postcode, h2, h3, h4, h5, h6] * ((5.0e0 * (h2 + 1.0e0)) * h3))
        )
            * AggSum([postcode], VIEW_SHOP(long)[][postcode, s2, s3, s4, s5, s6])
            * AggSum([postcode], VIEW_INSTITUTION(long)[][postcode, i2, i3])
            * AggSum([postcode], VIEW_RESTAURANT(long)[][postcode, r2, r3])
            * AggSum([postcode], VIEW_DEMOGRAPHICS(long)[][postcode, d2, d3, d4, d5])
            * AggSum([postcode], VIEW_TRANSPORT(long)[][postcode, t2, t3, t4])
            * postcode
            * postcode)
    );
}
