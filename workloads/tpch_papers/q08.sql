-- What share of the American market for one part type did Brazil hold, per year?
SELECT total.o_year,
       (SUM(CASE total.name WHEN 'BRAZIL' THEN total.volume ELSE 0 END) /
        LISTMAX(1, SUM(total.volume))) AS mkt_share
FROM (
  SELECT n2.name,
         EXTRACT(year from o.orderdate) AS o_year,
         l.extendedprice * (1-l.discount) AS volume
  FROM   Part p, Supplier s, Lineitem l, Orders o,
         Customer c, Nation n1, Nation n2, Region r
  WHERE  p.partkey = l.partkey
  AND    s.suppkey = l.suppkey
  AND    l.orderkey = o.orderkey
  AND    o.custkey = c.custkey
  AND    c.nationkey = n1.nationkey
  AND    n1.regionkey = r.regionkey
  AND    r.name = 'AMERICA'
  AND    s.nationkey = n2.nationkey
  AND    (o.orderdate BETWEEN DATE('1995-01-01') AND DATE('1996-12-31'))
  AND    p.type = 'ECONOMY ANODIZED STEEL'
) total
GROUP BY total.o_year;
