-- Listing 4.13 as it is printed.
CREATE TABLE HOUSE(postcode float, h2 float, h3 float, h4 float, h5 float, h6
   float)
FROM FILE './House.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE SHOP(postcode float, s2 float, s3 float, s4 float, s5 float, s6
   float)
FROM FILE '.Shop.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE INSTITUTION(postcode float, i2 float, i3 float)
FROM FILE '.Institution.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE RESTAURANT(postcode float, r2 float, r3 float)
FROM FILE '.Restaurant.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE DEMOGRAPHICS(postcode float, d2 float, d3 float, d4 float, d5
   float)
FROM FILE '.Demographics.tbl' LINE DELIMITED CSV(delimiter := '|');
CREATE TABLE TRANSPORT(postcode float, t2 float, t3 float, t4 float)
FROM FILE '.Transport.tbl' LINE DELIMITED CSV(delimiter := '|');
SELECT SUM(postcode * postcode * (h2 + 1) * (h3 * 5))
FROM HOUSE NATURAL JOIN SHOP NATURAL JOIN INSTITUTION NATURAL JOIN RESTAURANT
   NATURAL JOIN DEMOGRAPHICS NATURAL JOIN TRANSPORT;
