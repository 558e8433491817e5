-- The three highest bids on an auction.
SELECT auction, bidder, price, date_time
FROM (SELECT auction, bidder, price, date_time,
        ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, date_time, bidder) AS place
      FROM bid) x
WHERE place <= 3
