-- What is the summed spread between the orders that are not tiny?
SELECT SUM(a.price - b.price)
FROM   Bids b, Asks a
WHERE  b.volume>0.0001*(SELECT SUM(b1.volume) FROM Bids b1)
AND    a.volume>0.0001*(SELECT SUM(a1.volume) FROM Asks a1);
