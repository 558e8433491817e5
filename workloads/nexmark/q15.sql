-- Bids, bidders and auctions of a day, by price.
SELECT DATE_FORMAT(date_time, 'yyyy-MM-dd') AS day, COUNT(*) AS bids,
  COUNT(*) FILTER (WHERE price < 100) AS low, COUNT(*) FILTER (WHERE price >= 1000) AS high,
  COUNT(DISTINCT bidder) AS bidders, COUNT(DISTINCT bidder) FILTER (WHERE price < 100) AS low_bidders,
  COUNT(DISTINCT auction) AS auctions,
  COUNT(DISTINCT auction) FILTER (WHERE price >= 1000) AS high_auctions
FROM bid GROUP BY DATE_FORMAT(date_time, 'yyyy-MM-dd')
