-- Which customers returned what they ordered in a quarter, and for how much revenue?
SELECT c.custkey, c.name,
       c.acctbal,
       n.name,
       c.address,
       c.phone,
       c.comment,
       SUM(l.extendedprice * (1 - l.discount)) AS revenue
FROM   Customer c, Orders o, Lineitem l, Nation n
WHERE  c.custkey = o.custkey
AND    l.orderkey = o.orderkey
AND    o.orderdate >= DATE('1993-10-01')
AND    o.orderdate < DATE('1994-01-01')
AND    l.returnflag = 'R'
AND    c.nationkey = n.nationkey
GROUP BY c.custkey, c.name, c.acctbal, c.phone, n.name, c.address, c.comment;
