-- What was billed, shipped and returned, per return flag and line status?
SELECT returnflag, linestatus,
       SUM(quantity) AS sum_qty,
       SUM(extendedprice) AS sum_base_price,
       SUM(extendedprice * (1-discount)) AS sum_disc_price,
       SUM(extendedprice * (1-discount)*(1+tax)) AS sum_charge,
       AVG(quantity) AS avg_qty,
       AVG(extendedprice) AS avg_price,
       AVG(discount) AS avg_disc,
       COUNT(*) AS count_order
FROM   Lineitem
WHERE  shipdate <= DATE('1997-09-01')
GROUP BY returnflag, linestatus;
