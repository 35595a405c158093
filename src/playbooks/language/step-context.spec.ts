import { incidentEnvelope } from '../../incidents/dto/incident.dto.js';
import { incidentWith } from '../../../test/support/playbooks/incident-with.js';
import { checkPlaybook } from './check-playbook.js';
import { valuesOf, withOutcomes } from './decide-step.js';

const INCIDENT = incidentWith({
  resolution: 'The sender was blocked.',
  raw_data: '{"sender": "ceo@examp1e.com"}',
  verdict: {
    classification: 'malicious',
    confidence: 0.97,
    category: 'phishing',
    reasoning: 'Because.',
    indicators: [{ type: 'url', value: 'https://evil.example' }],
    mitre_techniques: ['T1566'],
    evidence: [{ source: 'raw_data', pointer: '/sender', value: 'ceo@examp1e.com' }],
    decided_by: 'system',
    model: 'rules',
  },
});

const values = valuesOf({ incident: INCIDENT, variables: {} });
const answer = JSON.parse(incidentEnvelope(INCIDENT)) as { data: Record<string, unknown> };
const { verdict, recommended_actions, ...incident } = answer.data;

function problemsOf(condition: string) {
  const parameters = { channel: 'c', message: 'm' };
  const step = { name: 's', action: 'notify_channel', parameters, on_error: 'stop' as const };
  return checkPlaybook({ variables: {}, steps: [{ ...step, condition }] });
}

describe('valuesOf', () => {
  it('shows an incident as the API does, and what comes of its verdict apart', () => {
    expect(values.get('incident')).toEqual(incident);
    expect(values.get('verdict')).toEqual({ ...(verdict as object), recommended_actions });
  });

  it('shows just the fields that the check knows', () => {
    for (const root of ['incident', 'verdict'] as const) {
      const fields = Object.keys(values.get(root) as object);
      expect(fields.flatMap((field) => problemsOf(`has(${root}.${field})`))).toEqual([]);
    }
    const all = 'has(incident.id) && has(verdict.model)';
    expect(problemsOf(all)).toEqual([]);
    expect(problemsOf('has(incident.verdict)')).toHaveLength(1);
    expect(problemsOf('has(verdict.other)')).toHaveLength(1);
  });

  it('has nothing of a verdict before there is one', () => {
    const untriaged = incidentWith({ verdict: null, recommended_actions: [] });
    expect(valuesOf({ incident: untriaged, variables: {} }).get('verdict')).toEqual({});
  });

  it('has nothing but JSON of what it is given', () => {
    const given = { list: [undefined, 1], none: undefined, at: new Date(0), call: () => 1 };
    const shown = withOutcomes(valuesOf({ variables: given }), { s: {} });
    expect(shown.get('variables')).toEqual({ list: [null, 1], at: '1970-01-01T00:00:00.000Z' });
    expect(shown.get('steps')).toEqual({ s: {} });
  });
});
