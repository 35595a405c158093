import { incidentEnvelope } from '../../incidents/dto/incident.dto.js';
import type { PlaybookStep } from '../playbook.js';
import { type Context, decided } from '../../../test/support/playbooks/decisions-of.js';
import { incidentWith } from '../../../test/support/playbooks/incident-with.js';
import { checkPlaybook } from './check-playbook.js';
import { valuesOf, withOutcomes } from './decide-step.js';

const RAW = {
  message_id: '<m1@mail.example>',
  sender: 'ceo@examp1e.com',
  count: 5,
  ratio: 0.5,
  urls: ['https://evil.example/a', 'https://evil.example/b'],
  flag: true,
  nothing: null,
  lines: 'One.\nVerdict: \u202ebenign',
};

const CONTEXT: Context = {
  incident: incidentWith({ raw_data: JSON.stringify(RAW) }),
  variables: { minutes: 60 },
  steps: {
    look: { result: { success: true, message: 'Found.', data: { score: 80 } } },
    skipped: {},
  },
};

function decide(step: Partial<PlaybookStep>, context: Partial<Context> = {}) {
  const whole: PlaybookStep = {
    name: 's',
    action: 'quarantine_email',
    parameters: {},
    on_error: 'stop',
  };
  return decided({ ...whole, ...step }, { ...CONTEXT, ...context });
}

const ofCondition = (condition: string, context?: Partial<Context>) =>
  decide({ parameters: { message_id: 'm' }, condition }, context);

function reasonOf(reason: string, context?: Partial<Context>): unknown {
  const decision = decide({ parameters: { message_id: 'm', reason } }, context);
  return decision.kind === 'run' ? decision.parameters!.reason : decision;
}

const withRaw = (rawData: string) => ({ incident: incidentWith({ raw_data: rawData }) });

describe('decideStep', () => {
  it.each<[string, string]>([
    ['{{ incident.raw_data.urls[0] }}', 'hxxps://evil[.]example/a'],
    ['See {{ incident.raw_data.urls[0] }}.', 'See hxxps://evil[.]example/a.'],
    ['{{ "evil." }}{{ "example" }}', 'evil[.]example'],
    ['{{ incident.raw_data.sender }}', 'ceo[@]examp1e[.]com'],
    ['https://wiki.example.com/{{ incident.raw_data.count }}', 'https://wiki.example.com/5'],
    ['{{ raw(incident.raw_data.urls[0]) }}', 'https://evil.example/a'],
    ['{{ oneLine(incident.raw_data.lines) }}', 'One. Verdict: benign'],
    ['{{ "<!channel> @here <@U1>" }}', '<[!]channel> [@]here <[@]U1>'],
    ['{{ incident.classification }}', 'malicious'],
    ['{{ raw("evil.") }}{{ "example" }}', 'evil.example'],
  ])('changes the template %j in a text for people to %j', (text, shown) => {
    const of = (action: PlaybookStep['action'], parameters: Record<string, string>) =>
      expect(decide({ action, parameters }));
    const [channel, recipient] = ['#soc', 'ann@example.com'];
    of('notify_channel', { channel, message: text }).toMatchObject({
      parameters: { channel, message: shown },
    });
    of('notify_user', { recipient, subject: text, message: text }).toMatchObject({
      parameters: { recipient, subject: shown, message: shown },
    });
    of('create_ticket', { title: text, description: text }).toMatchObject({
      parameters: { title: shown, description: shown },
    });
  });

  it('keeps addresses unchanged in parameters that are not for people', () => {
    const parameters = {
      recipient: '{{ incident.raw_data.sender }}',
      subject: 's',
      message: 'm',
    };
    expect(decide({ action: 'notify_user', parameters })).toMatchObject({
      parameters: { recipient: 'ceo@examp1e.com' },
    });
    expect(reasonOf('{{ raw(incident.raw_data.sender) }}')).toBe('ceo@examp1e.com');
  });

  it.each(['{{ raw("a") + "b" }}', '{{ size(raw("a")) }}', '{{ "a".contains(raw("a")) }}'])(
    'rejects raw() inside the expression %s',
    (text) => {
      expect(reasonOf(text)).toEqual({
        kind: 'error',
        message: expect.stringContaining('raw() must enclose the whole expression.'),
      });
    },
  );

  it('fills the parameters with the values of their templates', () => {
    const parameters = {
      ip: '{{ "192.0.2.1" }}',
      duration_minutes: '{{ variables.minutes * 2 }}',
      reason:
        '{{ incident.incident_number }}: {{ incident.raw_data.count }} mails, score {{ steps.look.result.data.score }}',
    };
    expect(decide({ action: 'block_ip', parameters })).toEqual({
      kind: 'run',
      parameters: {
        ip: '192.0.2.1',
        duration_minutes: 120,
        reason: 'INC-2026-0042: 5 mails, score 80',
      },
    });
  });

  it.each([
    ['incident.raw_data.flag', 'run'],
    ['!incident.raw_data.flag', 'skip'],
    ['incident.raw_data.count == 5 && incident.raw_data.ratio < 1', 'run'],
    ['incident.raw_data.nothing == null', 'run'],
    ['has(incident.raw_data.other) && incident.raw_data.other == 1', 'skip'],
    ['has(incident.resolution)', 'skip'],
    ['has(steps.skipped.result)', 'skip'],
    ['has(steps.look.result) && steps.look.result.data.score > 70', 'run'],
    ['incident.created_at == "2026-01-31T09:30:00.000Z"', 'run'],
    ['timestamp(incident.created_at).getHours("Asia/Tokyo") == 18', 'run'],
    [
      'verdict.classification == "malicious" && verdict.recommended_actions.exists(a, a == "block_sender")',
      'run',
    ],
  ])('given the condition %s, decides: %s', (condition, decision) => {
    expect(ofCondition(condition).kind).toBe(decision);
  });

  it.each([
    ['incident.raw_data.other == 1', 19, 'incident.raw_data.other does not exist.'],
    ['incident.raw_data.count.unit == 1', 25, 'incident.raw_data.count.unit does not exist.'],
    ['incident.raw_data["no key"] == 1', 1, 'incident.raw_data["no key"] does not exist.'],
    ['incident.raw_data.count', 1, 'The value must be true or false, but it is a number.'],
    [
      'incident.raw_data.count.contains("5")',
      25,
      "There is no function 'double.contains(string)'.",
    ],
    ['incident.raw_data.urls[7] == ""', 1, 'The list has no item there.'],
    ['steps.skipped.result.success', 15, 'steps.skipped.result does not exist.'],
    ['1 / 0 == 1', 1, 'Division by zero.'],
  ])('if %s has no value, fails and names the position %d', (condition, position, problem) => {
    expect(ofCondition(condition)).toEqual({
      kind: 'error',
      message: `steps.0.condition at character ${position}: ${problem}`,
    });
  });

  it('names the position in the template when it fails', () => {
    expect(reasonOf('Seen: {{ incident.raw_data.other }}')).toEqual({
      kind: 'error',
      message: 'steps.0.parameters.reason at character 28: incident.raw_data.other does not exist.',
    });
  });

  it.each([
    '{{ incident.raw_data.urls }}',
    'x {{ incident.raw_data.urls }}',
    'x {{ incident.raw_data.nothing }}',
  ])('fails if the value in %s is not a text', (template) => {
    expect(reasonOf(template)).toMatchObject({
      message: expect.stringMatching(/^steps\.0\.parameters\.reason at character \d/),
    });
  });

  it.each([
    ['{{ incident.raw_data.nothing }}', undefined],
    ['{{ incident.raw_data.count + 1 }} and {{ incident.raw_data.ratio }}', '6 and 0.5'],
    ['{{ incident.raw_data.urls.join(", ") }}', 'https://evil.example/a, https://evil.example/b'],
    ['no {{ "{{" }} and }}', 'no {{ and }}'],
  ])('changes the template %s to %j', (template, expected) => {
    expect(reasonOf(template)).toEqual(expected);
  });

  it('does not evaluate a value as a template', () => {
    const raw = withRaw(JSON.stringify({ text: '{{ incident.title }}' }));
    expect(reasonOf('{{ incident.raw_data.text }}!', raw)).toBe('{{ incident.title }}!');
  });

  it.each([
    ['message_id', '{{ incident.raw_data.nothing }}'],
    ['message_id', '{{ incident.raw_data.count }}'],
    ['message_id', '{{ " " }}'],
    ['message_id', '{{ "a\\u0000b" }}'],
    ['message_id', '{{ "\u{1f600}".substring(0, 1) }}'],
    [
      'message_id',
      '{{ incident.raw_data.sender.split("").map(c, incident.title).join("") }}'.repeat(60),
    ],
  ])('fails if the parameter %s is invalid: %j', (name, template) => {
    const decision = decide({ parameters: { [name]: template } });
    expect(decision).toMatchObject({ kind: 'error' });
    expect(decision).toHaveProperty(
      'message',
      expect.stringMatching(`^steps\\.0\\.parameters\\.${name} `),
    );
  });

  it('fails if the target is invalid', () => {
    const block = (ip: string) => decide({ action: 'block_ip', parameters: { ip } });
    expect(block('{{ "192.0.2.1\\u200b" }}').kind).toBe('error');
    expect(block('{{ incident.raw_data.sender }}').kind).toBe('error');
  });

  it.each([
    ['steps.later.result.success', 'undecided', true],
    ['1 / 0 == 1 || steps.later.result.success', 'undecided', true],
    ['has(steps.later.result) || true', 'run', true],
    ['steps.later.result.success && false', 'skip', false],
    ['steps.later.result.success ? 1 / 0 == 1 : true', 'undecided', true],
  ])(
    'given the condition %s with an unknown result, decides: %s',
    (condition, kind, hasParameters) => {
      const decision = ofCondition(condition, { steps: { later: undefined } });
      expect([decision.kind, 'parameters' in decision]).toEqual([kind, hasParameters]);
    },
  );

  it('is undecided without parameters if a template reads an unknown result', () => {
    const steps = { later: undefined };
    expect(reasonOf('{{ steps.later.result.message }}', { steps })).toEqual({ kind: 'undecided' });
  });

  it('fails if a template reads the verdict', () => {
    expect(reasonOf('{{ verdict.reasoning }}')).toMatchObject({ kind: 'error' });
    expect(reasonOf('{{ incident.verdict.reasoning }}')).toMatchObject({ kind: 'error' });
  });

  it('changes a number that JavaScript cannot hold to the text of its digits', () => {
    const raw = withRaw(
      '{"id": 12345678901234567, "far": -1E999, "fraction": 0.12345678901234567, "safe": 9007199254740991, "1234567890123456789": "a \\"12345678901234567 1e999", "e": [1e2]}',
    );
    expect(reasonOf('{{ incident.raw_data.id }}', raw)).toBe('12345678901234567');
    expect(reasonOf('{{ incident.raw_data.far }}.', raw)).toBe('-1E999.');
    expect(reasonOf('{{ incident.raw_data.fraction }}.', raw)).toBe('0.12345678901234566.');
    expect(reasonOf('{{ incident.raw_data.safe }}.', raw)).toBe('9007199254740991.');
    expect(reasonOf('{{ incident.raw_data["1234567890123456789"] }}', raw)).toBe(
      'a "12345678901234567 1e999',
    );
    expect(reasonOf('{{ incident.raw_data.e[0] }}.', raw)).toBe('100.');
    expect(ofCondition('int(incident.raw_data.id) == 12345678901234567', raw).kind).toBe('run');
  });

  it('uses an empty incident and an empty verdict in a run without an incident', () => {
    const none = { incident: undefined };
    expect(ofCondition('has(incident.title) || has(verdict.model)', none).kind).toBe('skip');
    expect(ofCondition('incident.title == ""', none).kind).toBe('error');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length'])(
    'reads %s only as a key of the data',
    (key) => {
      const absent = ofCondition(
        `has(incident.raw_data.${key}) || has(incident.${key}) || "${key}" in incident.raw_data`,
      );
      expect(absent.kind).toBe('skip');
      expect(ofCondition(`incident.raw_data.${key} == 1`).kind).toBe('error');
      expect(ofCondition(`incident.raw_data["${key}"] == 1`).kind).toBe('error');
      expect(ofCondition(`{"a": 1}["${key}"] == 1`).kind).toBe('error');
      expect(ofCondition(`"text".${key} == 1`).kind).toBe('error');
      expect(ofCondition(`[1].${key} == 1`).kind).toBe('error');
      expect(ofCondition(`${key} == 1`).kind).toBe('error');
      expect(ofCondition(`"text".${key}() == 1`).kind).toBe('error');
      expect(ofCondition(`${key}(1) == 1`).kind).toBe('error');
      const present = withRaw(`{"${key}": {"${key}": 7}}`);
      expect(ofCondition(`incident.raw_data.${key}.${key} == 7`, present).kind).toBe('run');
      expect(ofCondition(`{"${key}": 7}.${key} == 7`).kind).toBe('run');
    },
  );
});

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
  const step = { name: 's', action: 'notify_channel', parameters, on_error: 'stop' } as const;
  return checkPlaybook({ variables: {}, steps: [{ ...step, condition }] });
}

describe('valuesOf', () => {
  it('returns the incident in the format of the API, and its verdict in `verdict`', () => {
    expect(values.get('incident')).toEqual(incident);
    expect(values.get('verdict')).toEqual({ ...(verdict as object), recommended_actions });
  });

  it('returns only fields that checkPlaybook accepts', () => {
    for (const root of ['incident', 'verdict'] as const) {
      const fields = Object.keys(values.get(root) as object);
      expect(fields.flatMap((field) => problemsOf(`has(${root}.${field})`))).toEqual([]);
    }
    const all = 'has(incident.id) && has(verdict.model)';
    expect(problemsOf(all)).toEqual([]);
    expect(problemsOf('has(incident.verdict)')).toHaveLength(1);
    expect(problemsOf('has(verdict.other)')).toHaveLength(1);
  });

  it('returns an empty verdict before the triage', () => {
    const untriaged = incidentWith({ verdict: null, recommended_actions: [] });
    expect(valuesOf({ incident: untriaged, variables: {} }).get('verdict')).toEqual({});
  });

  it('returns only JSON values', () => {
    const given = { list: [undefined, 1], none: undefined, at: new Date(0), call: () => 1 };
    const shown = withOutcomes(valuesOf({ variables: given }), { s: {} });
    expect(shown.get('variables')).toEqual({ list: [null, 1], at: '1970-01-01T00:00:00.000Z' });
    expect(shown.get('steps')).toEqual({ s: {} });
  });
});
