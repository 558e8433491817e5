-- What are the best-priced bids worth that make up the top quarter of the volume?
SELECT SUM(b1.price * b1.volume)
FROM   Bids b1
WHERE  0.25 * (SELECT SUM(b3.volume) FROM Bids b3) >
         (SELECT SUM(b2.volume) FROM Bids b2 WHERE b2.price>b1.price);
