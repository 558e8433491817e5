-- The number of a channel: of some by name, of the others what their address says.
SELECT auction, bidder, price, channel,
  CASE WHEN LOWER(channel) = 'apple' THEN '0' WHEN LOWER(channel) = 'google' THEN '1'
       ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
FROM bid
WHERE LOWER(channel) IN ('apple', 'google')
   OR REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) <> ''
