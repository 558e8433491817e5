-- The sum over the join of F-IVM 2018, 7.
SELECT SUM(postcode)
FROM   House NATURAL JOIN Shop NATURAL JOIN Institution NATURAL JOIN Restaurant
       NATURAL JOIN Demographics NATURAL JOIN Transport;
