-- The same of a channel, and the last minute in which it had a bid.
SELECT channel, DATE_FORMAT(date_time, 'yyyy-MM-dd') AS day,
  MAX(DATE_FORMAT(date_time, 'HH:mm')) AS minute, COUNT(*) AS bids,
  COUNT(*) FILTER (WHERE price < 100) AS low, COUNT(DISTINCT bidder) AS bidders,
  COUNT(DISTINCT auction) AS auctions
FROM bid GROUP BY channel, DATE_FORMAT(date_time, 'yyyy-MM-dd')
