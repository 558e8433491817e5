-- How much revenue waits in unshipped orders of the building segment?
SELECT o.orderkey,
       o.orderdate,
       o.shippriority,
       SUM(extendedprice * (1 - discount)) AS query3
FROM   Customer c, Orders o, Lineitem l
WHERE  c.mktsegment = 'BUILDING'
AND    o.custkey = c.custkey
AND    l.orderkey = o.orderkey
AND    o.orderdate < DATE('1995-03-15')
AND    l.shipdate > DATE('1995-03-15')
GROUP BY o.orderkey, o.orderdate, o.shippriority;
