-- The winning bid of every auction: the highest one, and of several the first.
SELECT id, item, seller, bidder, price, bid_time
FROM (SELECT a.id, a.item, a.seller, b.bidder, b.price, b.date_time AS bid_time,
        ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time, b.bidder) AS place
      FROM auction a JOIN bid b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires) x
WHERE place <= 1
