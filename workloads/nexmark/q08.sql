-- New people who opened an auction in the same 10 seconds.
SELECT p.id, p.name, p.window_start
FROM (SELECT id, name, window_start
      FROM TUMBLE(TABLE person, DESCRIPTOR(date_time), INTERVAL '10' SECOND)
      GROUP BY id, name, window_start) p
JOIN (SELECT seller, window_start
      FROM TUMBLE(TABLE auction, DESCRIPTOR(date_time), INTERVAL '10' SECOND)
      GROUP BY seller, window_start) a
  ON p.id = a.seller AND p.window_start = a.window_start
