-- Which customers placed orders of more than 100 pieces?
SELECT c.name, c.custkey, o.orderkey, o.orderdate, o.totalprice,
       SUM(l.quantity) AS query18
FROM   Customer c, Orders o, Lineitem l
WHERE  o.orderkey IN (
         SELECT l3.orderkey
         FROM (
           SELECT l2.orderkey, SUM(l2.quantity) AS QTY
           FROM   Lineitem l2
           GROUP BY l2.orderkey
         ) l3
         WHERE QTY > 100)
AND    c.custkey = o.custkey
AND    o.orderkey = l.orderkey
GROUP BY c.name, c.custkey, o.orderkey, o.orderdate, o.totalprice;
