-- Bids with their auctions, of one category.
SELECT b.auction, b.bidder, b.price, b.channel, b.date_time, a.item, a.seller, a.reserve
FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10
