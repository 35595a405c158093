import type { Classification } from '../../../incidents/incident.js';

/** From which sum of points an event is what, and how far the rules may be believed there: measured on the development cases. */
export const SCALE = {
  malicious: 45,
  suspicious: 30,
  /** So much has to speak for an event, and at most so much may be left against it. */
  reassured: 20,
  leftForBenign: 0,
  confidence: {
    malicious: { least: 0.78, most: 0.92, perPoint: 0.002 },
    suspicious: { least: 0.35, most: 0.35, perPoint: 0 },
    benign: { least: 0.78, most: 0.88, perPoint: 0.005 },
    inconclusive: { least: 0.33, most: 0.33, perPoint: 0 },
  },
} as const;

export interface Sums {
  readonly against: number;
  /** Zero or more: what the reassuring rules gave. */
  readonly inFavour: number;
}

/** More against an event never makes it better: the sums are all that decides, and each step is a threshold. */
export function classify({ against, inFavour }: Sums): Classification {
  const left = against - inFavour;
  if (left >= SCALE.malicious) return 'malicious';
  if (left >= SCALE.suspicious) return 'suspicious';
  if (left <= SCALE.leftForBenign && inFavour >= SCALE.reassured) return 'benign';
  return 'inconclusive';
}

export function confidenceIn(classification: Classification, sums: Sums): number {
  const { least, most, perPoint } = SCALE.confidence[classification];
  const beyond = Math.max(0, beyondThreshold(classification, sums));
  return Math.round(Math.min(most, least + perPoint * beyond) * 100) / 100;
}

function beyondThreshold(classification: Classification, { against, inFavour }: Sums): number {
  const left = against - inFavour;
  switch (classification) {
    case 'malicious':
      return left - SCALE.malicious;
    case 'suspicious':
      return left - SCALE.suspicious;
    case 'benign':
      return -left;
    case 'inconclusive':
      return 0;
  }
}
