-- Bids of a price range with the time of day, and how often a letter is in their text.
SELECT auction, bidder, 0.908 * price AS price,
  CASE WHEN HOUR(date_time) BETWEEN 8 AND 18 THEN 'day'
       WHEN HOUR(date_time) <= 6 OR HOUR(date_time) >= 20 THEN 'night' ELSE 'other' END AS part,
  date_time, LENGTH(extra) - LENGTH(REPLACE(extra, 'c', '')) AS letters
FROM bid WHERE 0.908 * price > 100 AND 0.908 * price < 5000
