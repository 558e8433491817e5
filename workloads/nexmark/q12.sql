-- The bids of a person in every 10 seconds of the time at which they arrived.
SELECT bidder, window_start, window_end, COUNT(*) AS n
FROM TUMBLE(TABLE bid, DESCRIPTOR(arrived), INTERVAL '10' SECOND)
GROUP BY bidder, window_start, window_end
