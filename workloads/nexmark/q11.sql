-- The bids of a person in one go: 10 seconds without a bid end it.
SELECT bidder, COUNT(*) AS n, session_window.start AS opens, session_window.end AS closes
FROM bid GROUP BY bidder, session_window(date_time, '10 seconds')
