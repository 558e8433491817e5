-- An auction house: people who offer and bid, auctions, and bids. After Nexmark, in our own words.
CREATE STREAM person (
  id INT PRIMARY KEY, name STRING, email STRING, city STRING, state STRING, date_time TIMESTAMP);
CREATE STREAM auction (
  id INT PRIMARY KEY, item STRING, initial_bid INT, reserve INT, date_time TIMESTAMP NOT NULL,
  expires TIMESTAMP, seller INT, category INT);
CREATE STREAM bid (
  auction INT, bidder INT, price INT, channel STRING, url STRING, date_time TIMESTAMP,
  arrived TIMESTAMP, extra STRING);
CREATE TABLE side_input (k INT PRIMARY KEY, v STRING);
