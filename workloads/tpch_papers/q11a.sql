-- What is the stock of each part worth?
SELECT ps.partkey,
       SUM(ps.supplycost * ps.availqty) AS query11a
FROM   Partsupp ps, Supplier s
WHERE  ps.suppkey = s.suppkey
GROUP BY ps.partkey;
