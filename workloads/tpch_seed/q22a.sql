-- What do customers without orders hold, per nation, below the sum of all positive balances?
-- Written for a SUM over no rows that is 0; where it is NULL, as in SQL, no customer qualifies.
SELECT c1.nationkey, SUM(c1.acctbal) AS query22a
FROM   Customer c1
WHERE  c1.acctbal <
         (SELECT SUM(c2.acctbal)
          FROM   Customer c2
          WHERE  c2.acctbal > 0)
AND    0 =
         (SELECT SUM(1)
          FROM   Orders o
          WHERE  o.custkey = c1.custkey)
GROUP BY c1.nationkey;
