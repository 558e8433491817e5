-- RELATIONS ---------------------------------------------------------------------------------------
CREATE STREAM sales(store int, item int, units int);
CREATE STREAM stores(store int, size int);
CREATE TABLE items(item int, price int);

-- MAPS --------------------------------------------------------------------------------------------
DECLARE MAP AGG_VIEW_size(long)[][store: int] := AggSum([store], stores(store, size));
DECLARE MAP DELTA_AGG_VIEW_size(long)[][store: int] := AggSum([store], (DELTA stores)(store, size));
DECLARE MAP VIEW_items(long)[][item: int, price: int] := 0L;
DECLARE MAP AGG_VIEW_price(long)[][item: int] := AggSum([item], (items(item, price) * price));
DECLARE MAP AGG_VIEW_item(long)[][store: int] := AggSum([store],
    (AggSum([store, item], (sales(store, item, units) * units))
        * AggSum([item], (items(item, price) * price)))
);
DECLARE MAP DELTA_AGG_VIEW_item(long)[][store: int] := AggSum([store],
    (AggSum([store, item], ((DELTA sales)(store, item, units) * units))
        * AGG_VIEW_price(long)[][item])
);
DECLARE MAP AGG_VIEW_store(long)[][] := AggSum([],
    (AggSum([store],
        (AggSum([store, item], (sales(store, item, units) * units))
            * AggSum([item], (items(item, price) * price)))
    )
        * AggSum([store], stores(store, size)))
);
DECLARE MAP DELTA_AGG_VIEW_store(long)[][] := AggSum([],
    (DELTA_AGG_VIEW_item(long)[][store] * AGG_VIEW_size(long)[][store])
);

-- QUERIES -----------------------------------------------------------------------------------------
DECLARE QUERY total := AGG_VIEW_store(long)[][];

-- TRIGGERS ----------------------------------------------------------------------------------------
ON SYSTEM READY {
    AGG_VIEW_price(long)[][item] := AggSum([item], (VIEW_items(long)[][item, price] * price));
}
ON BATCH UPDATE OF sales {
    DELTA_AGG_VIEW_item(long)[][store] := AggSum([store],
        (AggSum([store, item], ((DELTA sales)(store, item, units) * units))
            * AGG_VIEW_price(long)[][item])
    );
    AGG_VIEW_item(long)[][store] += DELTA_AGG_VIEW_item(long)[][store];
    DELTA_AGG_VIEW_store(long)[][] := AggSum([],
        (DELTA_AGG_VIEW_item(long)[][store] * AGG_VIEW_size(long)[][store])
    );
    AGG_VIEW_store(long)[][] += DELTA_AGG_VIEW_store(long)[][];
}
ON BATCH UPDATE OF stores {
    DELTA_AGG_VIEW_size(long)[][store] := AggSum([store], (DELTA stores)(store, size));
    AGG_VIEW_size(long)[][store] += DELTA_AGG_VIEW_size(long)[][store];
    DELTA_AGG_VIEW_store(long)[][] := AggSum([],
        (AGG_VIEW_item(long)[][store] * DELTA_AGG_VIEW_size(long)[][store])
    );
    AGG_VIEW_store(long)[][] += DELTA_AGG_VIEW_store(long)[][];
}
