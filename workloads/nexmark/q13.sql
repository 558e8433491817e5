-- Bids with what a table says of their auctions.
SELECT b.auction, b.bidder, b.price, b.date_time, s.v
FROM bid b JOIN side_input s ON b.auction % 8 = s.k
