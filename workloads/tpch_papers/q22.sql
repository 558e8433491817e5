-- Which country codes have well-off customers who never ordered?
SELECT cntrycode,
       COUNT(*) AS numcust,
       SUM(custsale.acctbal) AS totalacctbal
FROM (
  SELECT SUBSTRING(c.phone, 0, 2) AS cntrycode,
         c.acctbal
  FROM   Customer c
  WHERE  (SUBSTRING(c.phone, 0, 2) IN
           ('13', '31', '23', '29', '30', '18', '17'))
  AND    c.acctbal > (
           SELECT AVG(c2.acctbal)
           FROM   Customer c2
           WHERE  c2.acctbal > 0.00
           AND    (SUBSTRING(c2.phone, 0, 2) IN
                    ('13', '31', '23', '29', '30', '18', '17')))
  AND    (NOT EXISTS (
            SELECT * FROM Orders o
            WHERE  o.custkey = c.custkey))
) custsale
GROUP BY cntrycode;
