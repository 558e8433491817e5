-- Which European supplier offers each brass part of size 15 at the lowest cost?
SELECT s.acctbal, s.name, n.name, p.partkey, p.mfgr,
       s.address, s.phone, s.comment
FROM   Part p, Supplier s, Partsupp ps, Nation n, Region r
WHERE  p.partkey = ps.partkey
AND    s.suppkey = ps.suppkey
AND    p.size = 15
AND    (p.type LIKE '%BRASS')
AND    s.nationkey = n.nationkey
AND    n.regionkey = r.regionkey
AND    r.name = 'EUROPE'
AND    (NOT EXISTS (
          SELECT 1
          FROM   Partsupp ps2, Supplier s2, Nation n2, Region r2
          WHERE  p.partkey = ps2.partkey
          AND    s2.suppkey = ps2.suppkey
          AND    s2.nationkey = n2.nationkey
          AND    n2.regionkey = r2.regionkey
          AND    r2.name = 'EUROPE'
          AND    ps2.supplycost < ps.supplycost));
