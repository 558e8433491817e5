-- The folders of the address of a bid.
SELECT auction, bidder, price, channel, SPLIT_PART(url, '/', 4) AS first,
  SPLIT_PART(url, '/', 5) AS second, SPLIT_PART(url, '/', 6) AS third
FROM bid
