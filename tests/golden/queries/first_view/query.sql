-- The view of docs/tour: revenue by customer, over a join of two streams.
CREATE STREAM orders (id INT PRIMARY KEY, customer STRING NOT NULL);
CREATE STREAM items (id INT NOT NULL, price DECIMAL(8, 2) NOT NULL);
CREATE VIEW first_view AS
  SELECT o.customer, COUNT(*) AS items, SUM(i.price) AS total
  FROM   orders o, items i
  WHERE  o.id = i.id
  GROUP BY o.customer
  ORDER BY o.customer;
