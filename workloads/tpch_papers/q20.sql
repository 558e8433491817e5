-- Which Canadian suppliers stock more of a forest part than half of what they shipped in 1994?
SELECT s.name, s.address
FROM   Supplier s, Nation n
WHERE  s.suppkey IN (
         SELECT ps.suppkey
         FROM   Partsupp ps
         WHERE  ps.partkey IN (
                  SELECT p.partkey
                  FROM   Part p
                  WHERE  p.name like 'forest%')
         AND    ps.availqty > (
                  SELECT 0.5 * SUM(l.quantity)
                  FROM   Lineitem l
                  WHERE  l.partkey = ps.partkey
                  AND    l.suppkey = ps.suppkey
                  AND    l.shipdate >= DATE('1994-01-01')
                  AND    l.shipdate < DATE('1995-01-01')))
AND    s.nationkey = n.nationkey
AND    n.name = 'CANADA';
