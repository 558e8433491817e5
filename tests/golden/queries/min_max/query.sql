-- The cheapest and the dearest item of every shop.
CREATE STREAM items (shop STRING NOT NULL, price INT NOT NULL);
CREATE VIEW min_max AS
  SELECT shop, MIN(price) AS cheapest, MAX(price) AS dearest
  FROM   items
  GROUP BY shop;
