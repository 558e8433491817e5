-- What is the stock of each category worth, where it rains and where it does not?
SELECT category, rain, COUNT(*) AS entries, SUM(inventoryunits * price) AS worth
FROM   Inventory NATURAL JOIN Item NATURAL JOIN Weather NATURAL JOIN Location NATURAL JOIN Census
WHERE  population > 1000
GROUP BY category, rain;
