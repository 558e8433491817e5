-- What are the phi and psi angles of the protein's backbone in each frame?
SELECT p1.trj_id, p1.t,
       dihedral_angle(p1.x,p1.y,p1.z,
                      p2.x,p2.y,p2.z,
                      p3.x,p3.y,p3.z,
                      p4.x,p4.y,p4.z) AS phi_psi,
       dm.dim_id
FROM   Dihedrals d,      Dimensions dm,
       AtomPositions p1, AtomPositions p2,
       AtomPositions p3, AtomPositions p4,
       AtomMeta m1,      AtomMeta m2,
       AtomMeta m3,      AtomMeta m4
WHERE  p1.t = p2.t
AND    p1.t = p3.t
AND    p1.t = p4.t
AND    p1.trj_id = p2.trj_id
AND    p1.trj_id = p3.trj_id
AND    p1.trj_id = p4.trj_id
AND    d.atom_id1 = m1.atom_id  AND m1.atom_id = p1.atom_id
AND    d.atom_id2 = m2.atom_id  AND m2.atom_id = p2.atom_id
AND    d.atom_id3 = m3.atom_id  AND m3.atom_id = p3.atom_id
AND    d.atom_id4 = m4.atom_id  AND m4.atom_id = p4.atom_id
AND    d.atom_id1 = dm.atom_id1 AND d.atom_id2 = dm.atom_id2
AND    d.atom_id3 = dm.atom_id3 AND d.atom_id4 = dm.atom_id4
AND    ((m1.atom_name = 'N' AND m2.atom_name = 'CA' AND m3.atom_name = 'C')
        OR
        (m2.atom_name = 'N' AND m3.atom_name = 'CA' AND m4.atom_name = 'C'));
