-- An aggregate after that of Valeanu 2018, listing 4.13.
SELECT SUM(postcode * (h2 + 1) * (h3 * 5))
FROM   House NATURAL JOIN Shop NATURAL JOIN Institution NATURAL JOIN Restaurant
       NATURAL JOIN Demographics NATURAL JOIN Transport;
