-- The last bid of a person on an auction.
SELECT auction, bidder, price, channel, date_time
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC, price DESC,
        channel, url, arrived, extra) AS place
      FROM bid) x
WHERE place <= 1
