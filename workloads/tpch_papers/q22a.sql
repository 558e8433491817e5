-- What do customers without orders hold, per nation, below the sum of all positive balances?
-- DBToaster takes a SUM over no rows for 0; in SQL it is NULL, hence the two COALESCE.
SELECT c1.nationkey, SUM(c1.acctbal) AS query22a
FROM   Customer c1
WHERE  c1.acctbal <
         (SELECT COALESCE(SUM(c2.acctbal), 0)
          FROM   Customer c2
          WHERE  c2.acctbal > 0)
AND    0 =
         (SELECT COALESCE(SUM(1), 0)
          FROM   Orders o
          WHERE  o.custkey = c1.custkey)
GROUP BY c1.nationkey;
