-- Bids with the day and the minute that a file of them would be named after.
SELECT auction, bidder, price, date_time, DATE_FORMAT(date_time, 'yyyy-MM-dd') AS day,
  DATE_FORMAT(date_time, 'HH:mm') AS minute
FROM bid
