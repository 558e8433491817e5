-- The sum over the join of F-IVM 2018, 7.
SELECT SUM(inventoryunits)
FROM   Inventory NATURAL JOIN Item NATURAL JOIN Weather NATURAL JOIN Location NATURAL JOIN Census;
