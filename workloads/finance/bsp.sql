-- How has the worth of each broker's bids moved over time?
SELECT x.broker_id, SUM(x.volume*x.price - y.volume*y.price)
FROM   Bids x, Bids y
WHERE  x.broker_id=y.broker_id AND x.t>y.t
GROUP BY x.broker_id;
