import type { Classification } from '../../../incidents/incident.js';

/** From which sum of points an event is what, and how far the rules may be believed there: measured on the development cases. */
export const SCALE = {
  malicious: 45,
  suspicious: 30,
  /** So much has to be proven of an event that is benign. */
  proven: 20,
  confidence: {
    malicious: { least: 0.78, most: 0.92, perPoint: 0.002 },
    suspicious: { least: 0.35, most: 0.35, perPoint: 0 },
    benign: { least: 0.78, most: 0.88, perPoint: 0.005 },
    inconclusive: { least: 0.25, most: 0.25, perPoint: 0 },
  },
} as const;

export interface Sums {
  /** What speaks against the event, less what calms that. */
  readonly left: number;
  /** The same, less only what proofs explain. */
  readonly unexplained: number;
  /** What the proofs give. */
  readonly proven: number;
}

/**
 * More against an event never makes it better: each step is a threshold. What is only a habit or a claim can lower an event to inconclusive.
 * Benign is only what is proven to be harmless, and only when no sign is left that the proof does not explain.
 */
export function classify({ left, unexplained, proven }: Sums): Classification {
  if (left >= SCALE.malicious) return 'malicious';
  if (left >= SCALE.suspicious) return 'suspicious';
  return unexplained === 0 && proven >= SCALE.proven ? 'benign' : 'inconclusive';
}

export function confidenceIn(classification: Classification, sums: Sums): number {
  const { least, most, perPoint } = SCALE.confidence[classification];
  const beyond = Math.max(0, beyondThreshold(classification, sums));
  return Math.round(Math.min(most, least + perPoint * beyond) * 100) / 100;
}

function beyondThreshold(classification: Classification, { left, proven }: Sums): number {
  switch (classification) {
    case 'malicious':
      return left - SCALE.malicious;
    case 'suspicious':
      return left - SCALE.suspicious;
    case 'benign':
      return proven - SCALE.proven;
    case 'inconclusive':
      return 0;
  }
}
