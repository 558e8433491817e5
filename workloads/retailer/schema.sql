-- Stock by location, date and product: five relations, 43 attributes (F-IVM 2018, 7).
CREATE STREAM Inventory (
    locn INT NOT NULL, dateid INT NOT NULL, ksn INT NOT NULL, inventoryunits INT NOT NULL,
    PRIMARY KEY (locn, dateid, ksn)
) FROM FILE 'inventory.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Item (
    ksn INT NOT NULL, subcategory INT NOT NULL, category INT NOT NULL,
    category_cluster INT NOT NULL, price DECIMAL(8, 2) NOT NULL, PRIMARY KEY (ksn)
) FROM FILE 'item.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Weather (
    locn INT NOT NULL, dateid INT NOT NULL, rain INT NOT NULL, snow INT NOT NULL,
    maxtemp INT NOT NULL, mintemp INT NOT NULL, meanwind INT NOT NULL, thunder INT NOT NULL,
    PRIMARY KEY (locn, dateid)
) FROM FILE 'weather.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Location (
    locn INT NOT NULL, zip INT NOT NULL, region INT NOT NULL, climate INT NOT NULL,
    area INT NOT NULL, sales_area INT NOT NULL, income INT NOT NULL, near1_km INT NOT NULL,
    near1_min INT NOT NULL, near2_km INT NOT NULL, near2_min INT NOT NULL,
    near3_km INT NOT NULL, near3_min INT NOT NULL, near4_km INT NOT NULL,
    near4_min INT NOT NULL, PRIMARY KEY (locn)
) FROM FILE 'location.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Census (
    zip INT NOT NULL, population INT NOT NULL, median_age INT NOT NULL, males INT NOT NULL,
    females INT NOT NULL, families INT NOT NULL, households INT NOT NULL, couples INT NOT NULL,
    with_children INT NOT NULL, house_units INT NOT NULL, occupied_units INT NOT NULL,
    group1 INT NOT NULL, group2 INT NOT NULL, group3 INT NOT NULL, group4 INT NOT NULL,
    group5 INT NOT NULL, PRIMARY KEY (zip)
) FROM FILE 'census.csv' LINE DELIMITED CSV (delimiter := ',');
