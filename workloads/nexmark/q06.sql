-- What a seller got for the last four auctions that were sold, on average.
SELECT seller, id, AVG(final) OVER (
  PARTITION BY seller ORDER BY date_time, id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS average
FROM (SELECT a.id, a.seller, a.date_time, MAX(b.price) AS final
      FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
      GROUP BY a.id, a.seller, a.date_time) closed
