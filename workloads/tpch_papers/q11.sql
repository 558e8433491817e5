-- Which parts make up more than a thousandth of the German stock value?
SELECT p.partkey, SUM(p.value) AS QUERY11
FROM (
  SELECT ps.partkey,
         SUM(ps.supplycost * ps.availqty) AS value
  FROM   Partsupp ps, Supplier s, Nation n
  WHERE  ps.suppkey = s.suppkey
  AND    s.nationkey = n.nationkey
  AND    n.name = 'GERMANY'
  GROUP BY ps.partkey
) p
WHERE  p.value > (
  SELECT SUM(ps.supplycost * ps.availqty) * 0.001
  FROM   Partsupp ps, Supplier s, Nation n
  WHERE  ps.suppkey = s.suppkey
  AND    s.nationkey = n.nationkey
  AND    n.name = 'GERMANY'
)
GROUP BY p.partkey;
