import { readByMapping } from '../../reading/mapping.js';
import { MAPPING_EXAMPLE } from './source-requests.dto.js';

const idOf = (fingerprint: string, startsAt: string) => {
  const read = readByMapping(MAPPING_EXAMPLE, { alerts: [{ fingerprint, startsAt }] });
  return read?.[0]?.eventId;
};

describe('MAPPING_EXAMPLE', () => {
  it('gives an alert that fires again a new id, and its update the same id', () => {
    const id = idOf('f1', '2026-06-01T00:00:00Z');
    expect(id).toBeDefined();
    expect(idOf('f1', '2026-06-08T00:00:00Z')).not.toBe(id);
    expect(idOf('f1', '2026-06-01T00:00:00Z')).toBe(id);
  });
});
