-- How much do the worths of each broker's bids vary together?
SELECT x.broker_id, SUM(x.volume*x.price*y.volume*y.price*0.5)
FROM   Bids x, Bids y
WHERE  x.broker_id = y.broker_id
GROUP BY x.broker_id;
