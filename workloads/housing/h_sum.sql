-- The sum over the join of seed 004, 7.
SELECT SUM(postcode)
FROM   House NATURAL JOIN Shop NATURAL JOIN Institution NATURAL JOIN Restaurant
       NATURAL JOIN Demographics NATURAL JOIN Transport;
