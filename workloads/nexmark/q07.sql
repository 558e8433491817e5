-- The highest bids of every 10 seconds.
SELECT b.auction, b.price, b.bidder, b.date_time
FROM bid b
JOIN (SELECT window.start AS opens, window.end AS closes, MAX(price) AS highest
      FROM bid GROUP BY window(date_time, '10 seconds')) m
  ON b.price = m.highest AND b.date_time >= m.opens AND b.date_time < m.closes
