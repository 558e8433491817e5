-- How many pieces did each customer buy in orders of more than 100 pieces?
SELECT c.custkey, SUM(l1.quantity) AS query18a
FROM   Customer c, Orders o, Lineitem l1
WHERE  1 <=
         (SELECT SUM(1)
          FROM   Lineitem l2
          WHERE  l1.orderkey = l2.orderkey
          AND    100 < (SELECT SUM(l3.quantity)
                        FROM   Lineitem l3
                        WHERE  l2.orderkey = l3.orderkey))
AND    c.custkey = o.custkey
AND    o.orderkey = l1.orderkey
GROUP BY c.custkey;
