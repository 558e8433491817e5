-- The bids on an auction by day.
SELECT auction, DATE_FORMAT(date_time, 'yyyy-MM-dd') AS day, COUNT(*) AS bids,
  COUNT(*) FILTER (WHERE price < 100) AS low, MIN(price) AS least, MAX(price) AS most,
  AVG(price) AS average, SUM(price) AS total
FROM bid GROUP BY auction, DATE_FORMAT(date_time, 'yyyy-MM-dd')
