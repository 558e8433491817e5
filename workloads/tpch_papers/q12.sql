-- Do the cheaper ship modes delay urgent orders, per mode?
SELECT l.shipmode,
       SUM(CASE WHEN o.orderpriority IN ('1-URGENT', '2-HIGH')
                THEN 1 ELSE 0 END) AS high_line_count,
       SUM(CASE WHEN o.orderpriority NOT IN ('1-URGENT', '2-HIGH')
                THEN 1 ELSE 0 END) AS low_line_count
FROM   Orders o, Lineitem l
WHERE  o.orderkey = l.orderkey
AND    (l.shipmode IN ('MAIL', 'SHIP'))
AND    l.commitdate < l.receiptdate
AND    l.shipdate < l.commitdate
AND    l.receiptdate >= DATE('1994-01-01')
AND    l.receiptdate < DATE('1995-01-01')
GROUP BY l.shipmode;
