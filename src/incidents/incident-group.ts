import { createHash } from 'node:crypto';
import type { NewIncident } from './incident.js';

/** Text in quotes, and words with a digit, `@`, `/` or `\\`: they name one host, address, file or number. */
const NAMES = /"[^"]*"|\S*[\d@/\\]\S*/gu;

/** Incidents of one source and type whose titles differ only in numbers, ids, addresses and quoted names are one group. */
export function groupOf({
  source,
  incidentType,
  title,
}: Pick<NewIncident, 'source' | 'incidentType' | 'title'>): string {
  const shape = title.toLowerCase().replace(NAMES, '#').replace(/\s+/gu, ' ');
  const hash = createHash('sha256').update(JSON.stringify([source, incidentType, shape]));
  return hash.digest('hex').slice(0, 32);
}
