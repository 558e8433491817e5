-- What yearly revenue would be lost without the small orders of one kind of part?
SELECT SUM(l.extendedprice) / 7.0 AS avg_yearly
FROM   Lineitem l, Part p
WHERE  p.partkey = l.partkey
AND    p.brand = 'Brand#23'
AND    p.container = 'MED BOX'
AND    l.quantity < (
         SELECT 0.2 * AVG(l2.quantity)
         FROM   Lineitem l2
         WHERE  l2.partkey = p.partkey);
