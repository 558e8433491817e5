-- How many orders of a quarter had a late line, per priority?
SELECT o.orderpriority, COUNT(*) AS order_count
FROM   Orders o
WHERE  o.orderdate >= DATE('1993-07-01')
AND    o.orderdate < DATE('1993-10-01')
AND    (EXISTS (
          SELECT * FROM Lineitem l
          WHERE  l.orderkey = o.orderkey
          AND    l.commitdate < l.receiptdate))
GROUP BY o.orderpriority;
