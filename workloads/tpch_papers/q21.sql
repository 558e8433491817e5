-- Which Saudi suppliers were the only ones late on an order of several suppliers, and how often?
SELECT s.name, COUNT(*) AS numwait
FROM   Supplier s, Lineitem l1, Orders o, Nation n
WHERE  s.suppkey = l1.suppkey
AND    o.orderkey = l1.orderkey
AND    o.orderstatus = 'F'
AND    l1.receiptdate > l1.commitdate
AND    (EXISTS (
          SELECT * FROM Lineitem l2
          WHERE  l2.orderkey = l1.orderkey
          AND    l2.suppkey <> l1.suppkey))
AND    (NOT EXISTS (
          SELECT * FROM Lineitem l3
          WHERE  l3.orderkey = l1.orderkey
          AND    l3.suppkey <> l1.suppkey
          AND    l3.receiptdate > l3.commitdate))
AND    s.nationkey = n.nationkey
AND    n.name = 'SAUDI ARABIA'
GROUP BY s.name;
