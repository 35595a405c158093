import { incidentWith } from '../../test/support/playbooks/incident-with.js';
import { applyChange, CHANGED_FIELDS, changesBetween } from './incident-changes.js';
import {
  auditOfChange,
  eventsOfChange,
  incidentEvent,
  timelineOfChange,
} from './change-records.js';
import type { Classification, Incident } from './incident.js';

const before = incidentWith({
  severity: 'medium',
  status: 'open',
  source: 'gateway',
  title: 'Phishing: "Invoice" from a@example.com',
  created_at: new Date(1000),
  updated_at: new Date(1000),
  triaged_at: null,
  verdict: null,
  recommended_actions: [],
});
const at = new Date(2000);
const person = { by: 'alice', at, byPerson: true };
const run = { by: 'system', at, byPerson: false };

describe('applyChange', () => {
  it('keeps fields that the change does not name, and increments the version', () => {
    expect(applyChange(before, { severity: 'high' }, person)).toEqual({
      ...before,
      severity: 'high',
      version: 2,
      updated_at: at,
    });
  });

  it('triages an open incident if the change has a verdict, and keeps any other status', () => {
    const verdict = { classification: 'malicious' } as const;
    expect(applyChange(before, { verdict }, person)).toMatchObject({
      status: 'triaged',
      triaged_at: at,
      verdict: { ...verdict, decided_by: 'alice' },
      verdict_by_person: true,
    });
    expect(applyChange({ ...before, status: 'resolved' }, { verdict }, run)).toMatchObject({
      status: 'resolved',
      verdict: { decided_by: 'system' },
      verdict_by_person: false,
    });
    expect(applyChange(before, { verdict, status: 'open' }, person).status).toBe('open');
  });

  it('records the person who sets the status triaged as the author of the verdict', () => {
    const triaged = applyChange(
      before,
      { verdict: { classification: 'benign', model: 'rules' } },
      run,
    );
    expect(applyChange(triaged, { status: 'triaged' }, person)).toMatchObject({
      verdict: { classification: 'benign', model: 'rules', decided_by: 'alice' },
      verdict_by_person: true,
    });
    expect(applyChange(before, { status: 'triaged' }, person).verdict).toBeNull();
  });

  it('keeps the evidence of a run if the verdict of a person has no evidence, and keeps the verdict of the run as the proposal', () => {
    const found = {
      evidence: [{ source: 'raw_data', pointer: '/sender', value: 'x@example.net' }],
      indicators: [{ type: 'email', value: 'x@example.net' }],
      mitre_techniques: ['T1566'],
    };
    const said = {
      classification: 'inconclusive',
      confidence: 0.25,
      reasoning: 'Little is known.',
    } as const;
    const judged = applyChange(
      before,
      { verdict: { ...said, ...found, model: 'rules', triage_id: 'run-1' } },
      run,
    );
    const given = { classification: 'malicious', reasoning: 'She paid.' } as const;
    const byAlice = applyChange(judged, { verdict: given }, person);
    expect(byAlice.verdict).toEqual({
      ...given,
      ...found,
      decided_by: 'alice',
      proposed: { ...said, triage_id: 'run-1' },
    });
    const anew = { ...given, evidence: [], mitre_techniques: ['T1534'] };
    const byBob = applyChange(byAlice, { verdict: anew }, { ...person, by: 'bob' });
    expect(byBob.verdict).toMatchObject({
      ...anew,
      indicators: found.indicators,
      proposed: { classification: 'inconclusive', triage_id: 'run-1' },
    });
    const confirmed = applyChange(judged, { status: 'triaged' }, person);
    expect(confirmed.verdict).toMatchObject({ ...said, decided_by: 'alice', proposed: said });
    const judgedAgain = applyChange(byBob, { verdict: said }, run);
    expect(judgedAgain.verdict).toEqual({ ...said, decided_by: 'system' });
  });

  it('given a reopening without a verdict, restores the status before the resolution', () => {
    const judged = applyChange(before, { verdict: { classification: 'benign' } }, run);
    const resolved = applyChange(judged, { status: 'resolved' }, person);
    const triaged = applyChange(resolved, { status: 'triaged', reopen: true }, person);
    expect(triaged).toMatchObject({
      status: 'triaged',
      triaged_at: judged.triaged_at,
      verdict: { decided_by: 'system' },
    });
    expect(applyChange(resolved, { reopen: true }, person).status).toBe('triaged');
    const never = applyChange(before, { status: 'resolved' }, person);
    expect(applyChange(never, { reopen: true }, person).status).toBe('open');
    expect(applyChange(before, { reopen: true }, person).status).toBe('open');
  });

  it('keeps resolved_by and resolved_at until the incident is reopened', () => {
    const resolved = applyChange(before, { status: 'resolved', resolution: 'Done.' }, person);
    expect(resolved).toMatchObject({ resolved_at: at, resolved_by: 'alice' });
    const bob = { by: 'bob', at: new Date(3000), byPerson: true };
    const confirmed = applyChange(resolved, { status: 'resolved', resolution: 'Done.' }, bob);
    expect(confirmed).toMatchObject({ resolution: 'Done.', resolved_at: at, resolved_by: 'alice' });
    const replaced = applyChange(resolved, { resolution: 'Blocked.' }, bob);
    expect(replaced).toMatchObject({ resolved_at: bob.at, resolved_by: 'bob' });
    const verdict = { classification: 'benign' } as const;
    expect(applyChange(resolved, { verdict }, run)).toMatchObject({
      ...{ status: 'resolved', resolution: 'Done.', resolved_at: at },
    });
    for (const status of ['open', 'triaged'] as const) {
      const { resolution, resolved_at, resolved_by } = applyChange(resolved, { status }, bob);
      expect([resolution, resolved_at, resolved_by]).toEqual([null, null, null]);
    }
  });

  it('stores a resolution even if the change does not set the status resolved', () => {
    const planned = applyChange(before, { resolution: 'Block it.' }, person);
    expect(planned).toMatchObject({ status: 'open', resolution: 'Block it.' });
    const resolved = applyChange(planned, { status: 'resolved' }, person);
    expect(resolved.resolution).toBe('Block it.');
    const again = applyChange(resolved, { status: 'open', resolution: 'It came back.' }, person);
    expect(again.resolution).toBe('It came back.');
  });

  it('never decreases the time of the last change', () => {
    const later = { ...before, updated_at: new Date(9000) };
    expect(applyChange(later, { severity: 'low' }, person).updated_at).toEqual(new Date(9000));
  });
});

describe('the events and timeline entries of a change', () => {
  const eventsOf = (from: Incident, to: Incident, by: string) =>
    eventsOfChange(from, to, changesBetween(from, to, CHANGED_FIELDS), by);
  const timelineOf = (from: Incident, to: Incident, by: string) =>
    timelineOfChange(from, to, changesBetween(from, to, CHANGED_FIELDS), by);
  const recordsOf = (from: Incident, to: Incident) => ({
    events: eventsOf(from, to, 'alice').map(({ type }) => type),
    timeline: timelineOf(from, to, 'alice').map(({ event }) => event),
  });

  it('include one event and one timeline entry for a triage, and one of each for a resolution', () => {
    const verdict = { classification: 'malicious' } as const;
    const triaged = applyChange(before, { verdict }, person);
    expect(recordsOf(before, triaged)).toEqual({
      events: ['incident.updated', 'incident.triaged'],
      timeline: ['triaged'],
    });
    const resolved = applyChange(triaged, { status: 'resolved', resolution: 'Done.' }, person);
    expect(recordsOf(triaged, resolved)).toEqual({
      events: ['incident.updated', 'incident.resolved'],
      timeline: ['resolved'],
    });
    const both = applyChange(before, { verdict, status: 'resolved', severity: 'low' }, person);
    expect(recordsOf(before, both)).toEqual({
      events: [
        'incident.updated',
        'incident.severity_changed',
        'incident.triaged',
        'incident.resolved',
      ],
      timeline: ['triaged', 'resolved', 'updated'],
    });
  });

  it('name the author of a triage', () => {
    const after = applyChange(before, { verdict: { classification: 'benign' } }, person);
    const [updated, triaged] = eventsOf(before, after, 'alice');
    expect(updated?.payload).toMatchObject({ changed: ['status', 'verdict'] });
    expect(triaged?.payload).toEqual({
      ...incidentEvent('any', after, {}).payload,
      triaged_by: 'alice',
      verdict: { classification: 'benign', decided_by: 'alice' },
      recommended_actions: [],
    });
  });

  it('show that an automatic verdict changed to malicious', () => {
    const judged = (from: Incident, classification: Classification, origin = run) =>
      applyChange(from, { verdict: { classification } }, { ...origin, at: new Date(3000) });
    const becomes = (from: Incident, to: Incident) =>
      eventsOf(from, to, 'webhook:siem').some(
        ({ type, payload }) => type === 'incident.triaged' && 'becomes_malicious' in payload,
      );
    const calm = judged(before, 'suspicious');
    const malicious = judged(calm, 'malicious');
    expect(becomes(before, judged(before, 'malicious'))).toBe(false);
    expect(becomes(calm, judged(calm, 'inconclusive'))).toBe(false);
    expect(becomes(calm, malicious)).toBe(true);
    expect(becomes(malicious, judged(malicious, 'malicious'))).toBe(false);
    expect(becomes(calm, judged(calm, 'malicious', person))).toBe(false);
  });

  it('include a reopening before other changes, with its author', () => {
    const resolved = applyChange(before, { status: 'resolved' }, person);
    const open = applyChange(resolved, { status: 'open' }, person);
    const [, reopened, ...more] = eventsOf(resolved, open, 'bob');
    expect(reopened).toMatchObject({
      type: 'incident.reopened',
      payload: { status: 'open', reopened_by: 'bob' },
    });
    expect(more).toEqual([]);
    const triaged = applyChange(resolved, { status: 'triaged', severity: 'high' }, person);
    expect(recordsOf(resolved, triaged).events).toEqual([
      'incident.updated',
      'incident.reopened',
      'incident.severity_changed',
    ]);
    for (const [from, to] of [
      [before, triaged],
      [before, resolved],
      [resolved, resolved],
    ] as const) {
      expect(recordsOf(from, to).events).not.toContain('incident.reopened');
    }
  });

  it('include the previous severity and the author of the change', () => {
    const after = applyChange(before, { severity: 'critical' }, person);
    const [, changed] = eventsOf(before, after, 'alice');
    expect(changed).toMatchObject({
      type: 'incident.severity_changed',
      payload: {
        title: after.title,
        severity: 'critical',
        previous_severity: 'medium',
        changed_by: 'alice',
      },
    });
    const same = applyChange(before, { severity: 'medium' }, person);
    expect(recordsOf(before, same).events).toEqual(['incident.updated']);
  });

  it('include the title after the change', () => {
    const after = applyChange(before, { title: 'The invoice' }, person);
    expect(eventsOf(before, after, 'alice')[0]?.payload).toEqual({
      incident_type: 'phishing',
      severity: 'medium',
      status: 'open',
      source: 'gateway',
      title: 'The invoice',
      updated_by: 'alice',
      changed: ['title'],
    });
    expect(timelineOf(before, after, 'alice')[0]?.summary).toBe(
      `Changed title from ${JSON.stringify(before.title)} to "The invoice".`,
    );
    expect(applyChange(after, { incident_type: 'bec' }, person).title).toBe('The invoice');
  });

  it('cut a long resolution in the summary but not in the details', () => {
    const resolution = 'Blocked. '.repeat(1_000);
    const resolved = applyChange(before, { status: 'resolved', resolution }, person);
    const [told] = timelineOf(before, resolved, 'alice');
    expect(told).toMatchObject({ event: 'resolved', details: { resolution } });
    expect(told!.summary).toMatch(/^Resolved: Blocked\. .{900,1000}…$/);
    const same = applyChange(before, { status: 'resolved' }, person);
    expect(timelineOf(before, same, 'alice')[0]).toMatchObject({ summary: 'Resolved.' });
  });

  it('have no timeline entry if nothing differs', () => {
    const same = { title: before.title, severity: 'medium', recommended_actions: [] } as const;
    expect(recordsOf(before, applyChange(before, same, person)).timeline).toEqual([]);
    const other = { recommended_actions: ['block_sender'] } as const;
    expect(recordsOf(before, applyChange(before, other, person)).timeline).toEqual(['updated']);
  });
});

describe('the audit record of a change', () => {
  it('contains no text of any field, even of an unknown field', () => {
    const change = { field: 'note', from: 'first', to: 'secret' };
    const [record] = auditOfChange(before, before, [change], 'alice');
    expect(record?.details).toEqual({ version: 1, changed: ['note'] });
  });
});
