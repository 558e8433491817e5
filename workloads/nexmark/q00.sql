-- All bids as they come.
SELECT auction, bidder, price, date_time FROM bid
