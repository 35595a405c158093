import type { Classification } from '../../../incidents/incident.js';

/** From which sum of points an event is what, and how far the rules may be believed there: measured on the development cases. */
export const SCALE = {
  malicious: 45,
  /** One plain sign, as a factor that was changed or a locked archive: an analyst has a look. */
  suspicious: 20,
  /** So much has to be proven of an event that is benign. */
  proven: 20,
  borneOut: 40,
  borneOutByMore: 30,
  /** Enough where nothing at all speaks against the event. */
  borneOutWithoutSigns: 27,
  kinds: 2,
  confidence: {
    malicious: { least: 0.82, most: 0.92, perPoint: 0.002 },
    /** Odd circumstances are what the word is for; a sign of something done may as well be an attack, or nothing. */
    suspicious: { circumstances: 0.54, signs: 0.32 },
    benign: { least: 0.82, most: 0.9, perPoint: 0.005 },
    /** Where nothing at all was found there is too little to judge. Where something calms, an analyst often knows more. */
    inconclusive: { nothing: 0.5, signs: 0.26, calmed: 0.17 },
  },
} as const;

export interface Sums {
  /** What speaks against the event, less what calms that. */
  readonly left: number;
  /** The same, less only what proofs explain. */
  readonly unexplained: number;
  /** What the proofs give. */
  readonly proven: number;
  /** What the habits give, and of how many kinds they are. */
  readonly borneOut: number;
  readonly kinds: number;
  /** Whether nothing at all speaks against the event. */
  readonly withoutSigns: boolean;
  /** Whether all that speaks against the event is circumstances. */
  readonly onlyCircumstances: boolean;
}

/**
 * More against an event never makes it better: each step is a threshold. What is only a habit or a claim can lower an event to inconclusive.
 * Benign is only what is proven to be harmless, and only when no sign is left that the proof does not explain.
 */
export function classify(sums: Sums): Classification {
  const { left, unexplained, proven, borneOut, kinds, withoutSigns } = sums;
  if (left >= SCALE.malicious && !sums.onlyCircumstances) return 'malicious';
  if (left >= SCALE.suspicious) return 'suspicious';
  const needed = withoutSigns
    ? SCALE.borneOutWithoutSigns
    : kinds > SCALE.kinds
      ? SCALE.borneOutByMore
      : SCALE.borneOut;
  if (left === 0 && kinds >= SCALE.kinds && borneOut >= needed) return 'benign';
  return unexplained === 0 && proven >= SCALE.proven ? 'benign' : 'inconclusive';
}

export function confidenceIn(classification: Classification, sums: Sums): number {
  const { malicious, suspicious, benign, inconclusive } = SCALE.confidence;
  switch (classification) {
    case 'malicious':
      return within(malicious, sums.left - SCALE.malicious);
    case 'suspicious':
      return sums.onlyCircumstances ? suspicious.circumstances : suspicious.signs;
    case 'benign':
      return within(benign, sums.proven - SCALE.proven);
    case 'inconclusive':
      if (sums.borneOut + sums.proven > 0) return inconclusive.calmed;
      return sums.withoutSigns ? inconclusive.nothing : inconclusive.signs;
  }
}

interface Range {
  readonly least: number;
  readonly most: number;
  readonly perPoint: number;
}

const within = ({ least, most, perPoint }: Range, beyond: number): number =>
  Math.round(Math.min(most, least + perPoint * Math.max(0, beyond)) * 100) / 100;
