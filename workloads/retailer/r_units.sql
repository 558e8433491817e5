-- The sum over the join of seed 004, 7.
SELECT SUM(inventoryunits)
FROM   Inventory NATURAL JOIN Item NATURAL JOIN Weather NATURAL JOIN Location NATURAL JOIN Census;
