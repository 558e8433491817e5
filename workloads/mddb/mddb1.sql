-- How far are the charged ends of lysines from the water's oxygens, on average per frame?
SELECT p.trj_id, p.t,
       AVG(vec_length(p.x-p2.x, p.y-p2.y, p.z-p2.z)) AS rdf
FROM   AtomPositions p, AtomMeta m,
       AtomPositions p2, AtomMeta m2
WHERE  p.trj_id        = p2.trj_id
AND    p.t             = p2.t
AND    p.atom_id       = m.atom_id
AND    p2.atom_id      = m2.atom_id
AND    m.residue_name  = 'LYS'
AND    m.atom_name     = 'NZ'
AND    m2.residue_name = 'TIP3'
AND    m2.atom_name    = 'OH2'
GROUP BY p.trj_id, p.t;
