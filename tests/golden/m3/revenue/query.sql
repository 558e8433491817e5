-- The example of docs/how-to/factorized.md.
CREATE STREAM sales (store INT NOT NULL, item INT NOT NULL, units INT NOT NULL);
CREATE STREAM stores (store INT NOT NULL, size INT NOT NULL);
CREATE TABLE items (item INT NOT NULL, price INT NOT NULL);
CREATE VIEW revenue AS
  SELECT SUM(units * price) AS total FROM sales NATURAL JOIN stores NATURAL JOIN items;
