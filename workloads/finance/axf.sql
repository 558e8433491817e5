-- By how much do asked and bid volumes differ where a broker's prices lie far apart?
SELECT b.broker_id, SUM(a.volume-b.volume)
FROM   Bids b, Asks a
WHERE  b.broker_id = a.broker_id
AND    (a.price-b.price > 1000 OR b.price-a.price > 1000)
GROUP BY b.broker_id;
