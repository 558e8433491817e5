-- Listing 5.4 in one pass: the count and the sum of postcode are one payload.
CREATE STREAM HOUSE(postcode int, h2 int, h3 int);
CREATE STREAM SHOP(postcode int, s2 int);
CREATE TABLE TRANSPORT(postcode int, t2 int);
SELECT COUNT(postcode), SUM([pair: Pair](postcode))
FROM HOUSE NATURAL JOIN SHOP NATURAL JOIN TRANSPORT
WHERE h2 > 3;
