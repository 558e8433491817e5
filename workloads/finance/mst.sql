-- By how much do the top quarters of asks and bids differ in worth, per bidding broker?
SELECT b.broker_id, SUM(a.price*a.volume - b.price*b.volume)
FROM   Bids b, Asks a
WHERE  0.25*(SELECT SUM(a1.volume) FROM Asks a1) >
         (SELECT SUM(a2.volume) FROM Asks a2 WHERE a2.price>a.price)
AND    0.25*(SELECT SUM(b1.volume) FROM Bids b1) >
         (SELECT SUM(b2.volume) FROM Bids b2 WHERE b2.price>b.price)
GROUP BY b.broker_id;
