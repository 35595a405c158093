const DIGITS = 4;

/** `INC-<year of creation in UTC>-<sequence>`. The sequence is one for all years, so that it alone is unique. */
export function incidentNumber(sequence: string, createdAt: Date): string {
  return `INC-${createdAt.getUTCFullYear()}-${sequence.padStart(DIGITS, '0')}`;
}
