/**
 * The ids of MITRE ATT&CK for Enterprise, version 19 (April 2026): 222 techniques with 475 sub-techniques. `T1003:1-8` stands
 * for T1003 and T1003.001 to T1003.008. What version 18 has is from https://github.com/mitre-attack/attack-stix-data, what
 * changed since from the release notes at https://attack.mitre.org/resources/updates/. Neither revoked nor deprecated ids.
 */
const TECHNIQUES = `
T1001:1-3 T1003:1-8 T1005 T1006 T1007 T1008 T1010 T1011:1 T1012 T1014 T1016:1-2 T1018 T1020:1 T1021:1-8 T1025
T1027:1-18 T1029 T1030 T1033 T1036:1-12 T1037:1-5 T1039 T1040 T1041 T1046 T1047 T1048:1-3 T1049 T1052:1 T1053:2-3,5-7
T1055:1-5,8-9,11-15 T1056:1-4 T1057 T1059:1-13 T1068 T1069:1-3 T1070:3-10 T1071:1-5 T1072 T1074:1-2 T1078:1-4 T1080
T1082 T1083 T1087:1-4 T1090:1-4 T1091 T1092 T1095 T1098:1-7 T1102:1-3 T1104 T1105 T1106 T1110:1-4 T1111 T1112 T1113
T1114:1-3 T1115 T1119 T1120 T1123 T1124 T1125 T1127:1-3 T1129 T1132:1-2 T1133 T1134:1-5 T1135 T1136:1-3 T1137:1-6
T1140 T1176:1-2 T1185 T1187 T1189 T1190 T1195:1-3 T1197 T1199 T1200 T1201 T1202 T1203 T1204:1-5 T1205:1-2 T1207 T1210
T1211 T1212 T1213:1-6 T1216:1-2 T1217 T1218:1-5,7-15 T1219:1-3 T1220 T1221 T1222:1-2 T1480:1-2 T1482 T1484:1-2 T1485:1
T1486 T1489 T1490 T1491:1-2 T1495 T1496:1-4 T1497:1-3 T1498:1-2 T1499:1-4 T1505:1-6 T1518:1-2 T1525 T1526 T1528 T1529
T1530 T1531 T1534 T1535 T1537 T1538 T1539 T1542:1-5 T1543:1-5 T1546:1-18 T1547:1-10,12-15 T1548:1-6 T1550:1-4
T1552:1-8 T1553:1-6 T1554 T1555:1-6 T1556:1-9 T1557:1-4 T1558:1-5 T1559:1-3 T1560:1-3 T1561:1-2 T1563:1-2 T1564:1-14
T1565:1-3 T1566:1-4 T1567:1-4 T1568:1-3 T1569:1-3 T1570 T1571 T1572 T1573:1-2 T1574:1,4-14 T1578:1-5 T1580 T1583:1-8
T1584:1-8 T1585:1-3 T1586:1-3 T1587:1-4 T1588:1-7 T1589:1-3 T1590:1-6 T1591:1-4 T1592:1-4 T1593:1-3 T1594 T1595:1-3
T1596:1-5 T1597:1-2 T1598:1-4 T1599:1 T1600:1-2 T1601:1-2 T1602:1-2 T1606:1-2 T1608:1-6 T1609 T1610 T1611 T1612 T1613
T1614:1 T1615 T1619 T1620 T1621 T1622 T1647 T1648 T1649 T1650 T1651 T1652 T1653 T1654 T1657 T1659 T1665 T1666 T1667
T1668 T1669 T1671 T1673 T1674 T1675 T1677 T1678 T1679 T1680 T1681 T1682 T1683:1-2 T1684:1-2 T1685:1-6 T1686:1-3 T1687
T1688 T1689 T1690
`;

/** What version 19 has revoked, with what stands in its place. Older reports, and models that have read them, still say these. */
const REPLACED: ReadonlyMap<string, string> = new Map([
  ['T1070.001', 'T1685.005'],
  ['T1070.002', 'T1685.006'],
  ['T1562', 'T1685'],
  ['T1562.001', 'T1685'],
  ['T1562.002', 'T1685.001'],
  ['T1562.003', 'T1690'],
  ['T1562.004', 'T1686'],
  ['T1562.006', 'T1685'],
  ['T1562.007', 'T1686.001'],
  ['T1562.008', 'T1685.002'],
  ['T1562.009', 'T1688'],
  ['T1562.010', 'T1689'],
  ['T1562.011', 'T1685.003'],
  ['T1562.012', 'T1685.004'],
  ['T1562.013', 'T1686.002'],
  ['T1656', 'T1684.001'],
  ['T1672', 'T1684.002'],
]);

const KNOWN: ReadonlySet<string> = new Set(TECHNIQUES.trim().split(/\s+/).flatMap(idsOf));

/** Those of the ids that exist, each once and as it is called today. */
export function knownTechniques(ids: readonly string[]): string[] {
  const current = ids.map((id) => id.trim()).map((id) => REPLACED.get(id) ?? id);
  return [...new Set(current)].filter((id) => KNOWN.has(id));
}

function idsOf(entry: string): string[] {
  const [id = '', parts = ''] = entry.split(':');
  const numbers = parts === '' ? [] : parts.split(',').flatMap(numbersOf);
  return [id, ...numbers.map((number) => `${id}.${String(number).padStart(3, '0')}`)];
}

function numbersOf(range: string): number[] {
  const [first = 0, last = first] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
