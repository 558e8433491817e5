-- The average of the highest bids of a category, over bids made before the auction was over.
SELECT category, AVG(final) AS average
FROM (SELECT a.id, a.category, MAX(b.price) AS final
      FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
      GROUP BY a.id, a.category) closed
GROUP BY category
