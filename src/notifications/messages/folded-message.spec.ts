import { messageAbout } from '../../../test/support/notifications/mean-message.js';
import { newId } from '../../platform/ids.js';
import { foldedMessage } from './folded-message.js';

const created = (n: number, severity = 'high') =>
  messageAbout('incident.created', {
    eventId: newId(),
    occurredAt: new Date(1_795_000_000_000 + n * 1_000),
    subject: { type: 'incident', id: `id-${n}` },
    incidentNumber: `INC-2026-${n}`,
    payload: { title: `Beacon ${n}`, incident_type: 'malware', severity, source: 'edr' },
  });

describe('a message about several incidents', () => {
  it('is the message about one, with the size of the wave that it is in', () => {
    const one = created(1);
    expect(foldedMessage([one], 1)).toEqual(one);
    expect(foldedMessage([one], 12).words.facts.at(-1)).toEqual({
      name: 'Alike',
      value: '12 new incidents in 10 minutes',
    });
  });

  it('tells how many they are and the most severe one, which it links to', () => {
    const [carrier, ...more] = [created(1), created(2, 'medium'), created(3), created(4, 'low')];
    const { words, ...message } = foldedMessage([carrier, ...more], 4);
    expect(message).toMatchObject({ eventId: carrier.eventId, severity: 'high' });
    expect(words).toEqual({
      headline: '4 new incidents from edr: INC-2026-3',
      about: 'Beacon 3',
      facts: [
        { name: 'INC-2026-3', value: 'high: Beacon 3' },
        { name: 'INC-2026-1', value: 'high: Beacon 1' },
        { name: 'INC-2026-2', value: 'medium: Beacon 2' },
        { name: 'INC-2026-4', value: 'low: Beacon 4' },
        { name: 'Alike', value: '4 new incidents in 10 minutes' },
      ],
      url: 'https://triage.example.com/docs?incident=id-3',
    });
  });

  it('lists eight, and counts the rest', () => {
    const all = Array.from({ length: 39 }, (_, n) => created(n));
    const { facts } = foldedMessage([created(39), ...all], 40).words;
    expect(facts).toHaveLength(10);
    expect(facts.slice(8)).toEqual([
      { name: 'More', value: '32 in the list of incidents' },
      { name: 'Alike', value: '40 new incidents in 10 minutes' },
    ]);
  });
});
