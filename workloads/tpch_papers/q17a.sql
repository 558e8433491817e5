-- What is billed in lines with less than half a percent of their part's total quantity?
SELECT SUM(l.extendedprice) AS query17a
FROM   Lineitem l, Part p
WHERE  p.partkey = l.partkey
AND    l.quantity < 0.005 *
         (SELECT SUM(l2.quantity)
          FROM   Lineitem l2
          WHERE  l2.partkey = p.partkey);
