-- Every customer with their orders, also those who have none.
CREATE STREAM customers (id INT PRIMARY KEY, name STRING NOT NULL);
CREATE STREAM orders (id INT PRIMARY KEY, customer INT NOT NULL, price DECIMAL(8, 2) NOT NULL);
CREATE VIEW left_join AS
  SELECT c.name, o.id AS bought, o.price
  FROM   customers c LEFT JOIN orders o ON o.customer = c.id;
