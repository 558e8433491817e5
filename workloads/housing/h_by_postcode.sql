-- How much is there around each postcode?
SELECT postcode, COUNT(*) AS ways, SUM(h2 * s2) AS worth
FROM   House NATURAL JOIN Shop NATURAL JOIN Institution NATURAL JOIN Restaurant
       NATURAL JOIN Demographics NATURAL JOIN Transport
GROUP BY postcode;
