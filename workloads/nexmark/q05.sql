-- The auctions with the most bids of the last 20 seconds, every 5 seconds.
WITH counted AS (
  SELECT auction, window_start, window_end, COUNT(*) AS n
  FROM HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '5' SECOND, INTERVAL '20' SECOND)
  GROUP BY auction, window_start, window_end)
SELECT c.auction, c.n, c.window_start
FROM counted c
JOIN (SELECT window_start, MAX(n) AS most FROM counted GROUP BY window_start) m
  ON c.window_start = m.window_start AND c.n >= m.most
