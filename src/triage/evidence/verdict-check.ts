import { type ActionTypeName, isActionType } from '../../action-catalogue/action-types.js';
import { defang, refang } from '../../incidents/defang.js';
import { CLASSIFICATIONS, type Evidence, type Indicator } from '../../incidents/incident.js';
import { resolvePointer } from '../../platform/json-pointer.js';
import { shownStart, storable } from '../../platform/text.js';
import type { ProposedVerdict, RunVerdict } from '../model/triage-model.port.js';
import { storedRecords } from '../records/stored-json.js';
import { INDICATOR_TYPES } from './indicators.js';
import { isScalar, LONGEST_POINTER, rawTexts } from './raw-values.js';
import { LONGEST_SHOWN, visibleText, withoutHidden } from './visible-text.js';

/** Data that the model saw: `raw_data` and `fields` of the incident, and each answer of a tool under the id of its call. */
export type Sources = ReadonlyMap<string, unknown>;

export interface CheckedVerdict {
  readonly verdict: RunVerdict;
  readonly recommended_actions: readonly ActionTypeName[];
  /** Changes to the verdict, for readers of the run. */
  readonly notes: readonly string[];
}

const MOST_EVIDENCE = 50;
const MOST_INDICATORS = 50;
const MOST_ACTIONS = 10;
const MOST_TECHNIQUES = 200;
const LONGEST_REASONING = 4_000;
const CATEGORY = /^[a-z][a-z0-9_]{0,63}$/;
/** Room of the indicators, and of the evidence. */
const ROOM = { characters: 48_000, longestText: LONGEST_SHOWN, items: 50, depth: 2 } as const;

/**
 * Checks everything in the verdict of a model: evidence must resolve in the sources, indicators must occur there, and actions and
 * techniques must exist. The result has the bounds of the verdict of an incident.
 */
export function checkedVerdict(proposed: ProposedVerdict, sources: Sources): CheckedVerdict {
  const known = CLASSIFICATIONS.find((name) => name === proposed.classification);
  const evidence = foundEvidence(proposed.evidence, sources);
  const isUnproven = (known === 'malicious' || known === 'benign') && evidence.length === 0;
  const confidence = isUnproven ? 0 : proposed.confidence;
  return {
    verdict: {
      classification: isUnproven ? 'inconclusive' : (known ?? 'inconclusive'),
      confidence: Number.isFinite(confidence) ? Math.min(1, Math.max(0, confidence)) : 0,
      category: CATEGORY.test(proposed.category) ? proposed.category : 'unknown',
      reasoning: readable(proposed.reasoning),
      indicators: storedRecords(foundIndicators(proposed.indicators, sources), ROOM),
      mitre_techniques: knownTechniques(proposed.mitre_techniques).slice(0, MOST_TECHNIQUES),
      evidence: storedRecords(evidence, ROOM),
    },
    recommended_actions: isUnproven ? [] : knownActions(proposed.recommended_actions),
    notes: isUnproven ? [UNPROVEN] : notesOnLost(proposed.evidence.length - evidence.length),
  };
}

const UNPROVEN = "The model's evidence could not be found in the data.";

function notesOnLost(lost: number): string[] {
  if (lost === 0) return [];
  return [
    lost === 1
      ? 'One piece of evidence was left out: it is not in the data, or was given twice.'
      : `${lost} pieces of evidence were left out: they are not in the data, or were given twice.`,
  ];
}

/** Words of the service around an answer of a tool. They are the same for every incident, so they prove nothing. */
const OWN_WORDS =
  /^\/(?:error|answered|simulated|connector)$|^(?!\/data\/).*\/(?:said_by|pointers?)(?:\/|$)/;

function foundEvidence(evidence: readonly Evidence[], sources: Sources): Evidence[] {
  const found = new Map<string, Evidence>();
  for (const { source, pointer, value } of evidence.slice(0, MOST_EVIDENCE)) {
    // PostgreSQL stores neither NUL nor half a surrogate pair, and a pointer without them would lead elsewhere.
    if (pointer.length > LONGEST_POINTER || pointer !== storable(pointer)) continue;
    const isOfIncident = source === 'raw_data' || source === 'fields';
    if (!isOfIncident && OWN_WORDS.test(pointer)) continue;
    const real = resolvePointer(sources.get(source), pointer);
    if (!isScalar(real) || !isQuoteOf(real, value)) continue;
    // The raw data has the rest of a long text.
    const stored = typeof real === 'string' ? shownStart(real.trim(), LONGEST_SHOWN) : real;
    found.set(`${source} ${pointer}`, { source, pointer, value: stored });
  }
  return [...found.values()];
}

/**
 * Compares exactly, except for space around the value. A model may write a number as text. It saw marks in place of hidden
 * characters, and only the beginning of a long text. A text without visible characters proves nothing.
 */
function isQuoteOf(real: Evidence['value'], quoted: Evidence['value']): boolean {
  const plain = String(real);
  const said = String(quoted).trim();
  if (withoutHidden(plain).trim() === '') return false;
  if (plain.trim() === said) return true;
  return plain.length <= LONGEST_SHOWN && visibleText(plain).trim() === said;
}

/** Cut before, because a model may write without end, and after, because defanging makes text longer. */
function readable(reasoning: string): string {
  const start = reasoning.slice(0, 4 * LONGEST_REASONING);
  return shownStart(defang(withoutHidden(start)).trim(), LONGEST_REASONING);
}

function knownActions(names: readonly string[]): ActionTypeName[] {
  return [...new Set(names.filter(isActionType))].slice(0, MOST_ACTIONS);
}

/** A search takes time by the length of the text times that of the value, if both repeat themselves. */
const SHORTEST_VALUE = 3;
const LONGEST_VALUE = 2_048;
const LONGEST_SEARCHED = 200;
const MOST_CHARACTERS = 128 * 1024;

interface Haystack {
  readonly source: string;
  readonly pointer: string;
  readonly text: string;
}

/** Keeps indicators that occur in a text that the model saw, in any case, defanged or not. `found_in` leads into raw data. */
function foundIndicators(indicators: readonly Indicator[], sources: Sources): Indicator[] {
  if (indicators.length === 0) return [];
  const texts = searchedTexts(sources);
  const kept = new Map<string, Indicator>();
  for (const { type, value } of indicators.slice(0, MOST_INDICATORS)) {
    const plain = refang(value).trim();
    const key = `${type} ${plain.toLowerCase()}`;
    if (kept.has(key) || !isIndicator(type, plain)) continue;
    const place = placeOf(texts, plain.toLowerCase());
    if (!place) continue;
    const { source, pointer } = place;
    const isRaw = source === 'raw_data' && pointer !== '';
    kept.set(key, { type, value: plain, ...(isRaw && { found_in: storable(pointer) }) });
  }
  return [...kept.values()];
}

function isIndicator(type: string, value: string): boolean {
  if (value.length < SHORTEST_VALUE || value.length > LONGEST_VALUE) return false;
  return INDICATOR_TYPES.some((known) => known === type) && value === storable(value);
}

/** A long value, such as the address of a page, must be a word of its text. */
function placeOf(texts: readonly Haystack[], value: string): Haystack | undefined {
  return value.length <= LONGEST_SEARCHED
    ? texts.find(({ text }) => text.includes(value))
    : texts.find(({ text }) => text.split(/[\s"'<>()]+/).includes(value));
}

function searchedTexts(sources: Sources): Haystack[] {
  let left = MOST_CHARACTERS;
  return [...sources].flatMap(([source, value]) =>
    rawTexts(value).flatMap((found) => {
      if (left <= 0) return [];
      const shown = found.value.slice(0, LONGEST_SHOWN);
      left -= shown.length;
      const text = refang(shown).toLowerCase();
      return text.length < SHORTEST_VALUE ? [] : [{ source, pointer: found.pointer, text }];
    }),
  );
}

/**
 * MITRE ATT&CK for Enterprise, version 19 (April 2026), without revoked and deprecated ids. `T1003:1-8` stands for T1003 and
 * T1003.001 to T1003.008. Sources: https://github.com/mitre-attack/attack-stix-data (version 18) and the release notes at
 * https://attack.mitre.org/resources/updates/.
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

/** Ids that version 19 has revoked, with their replacements. Older reports still have them. */
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

const KNOWN_TECHNIQUES: ReadonlySet<string> = new Set(
  TECHNIQUES.trim().split(/\s+/).flatMap(idsOf),
);

function idsOf(entry: string): string[] {
  const [id = '', ranges] = entry.split(':');
  const numbers = ranges?.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  return [id, ...(numbers ?? []).map((number) => `${id}.${String(number).padStart(3, '0')}`)];
}

/** Returns the ids that exist, each once, with their present names. */
function knownTechniques(ids: readonly string[]): string[] {
  const current = ids.map((id) => REPLACED.get(id.trim()) ?? id.trim());
  return [...new Set(current)].filter((id) => KNOWN_TECHNIQUES.has(id));
}
