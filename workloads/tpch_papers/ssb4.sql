-- How many pieces of each part type went from region to region in orders of 1997?
SELECT sn.regionkey, cn.regionkey, p.type,
       SUM(li.quantity)
FROM   Customer c, Orders o, Lineitem li, Part p, Supplier s, Nation cn, Nation sn
WHERE  c.custkey = o.custkey
AND    o.orderkey = li.orderkey
AND    p.partkey = li.partkey
AND    s.suppkey = li.suppkey
AND    o.orderdate >= DATE('1997-01-01')
AND    o.orderdate < DATE('1998-01-01')
AND    cn.nationkey = c.nationkey
AND    sn.nationkey = s.nationkey
GROUP BY sn.regionkey, cn.regionkey, p.type;
