import { decideStep } from './decide-step.js';
import type { PlaybookStep } from './playbook-definition.js';
import type { StepContext } from './step-context.js';
import { incidentWith } from '../../../test/support/playbooks/incident-with.js';

const RAW = {
  message_id: '<m1@mail.example>',
  sender: 'ceo@examp1e.com',
  count: 5,
  ratio: 0.5,
  urls: ['https://evil.example/a', 'https://evil.example/b'],
  flag: true,
  nothing: null,
};

const CONTEXT: StepContext = {
  incident: incidentWith({ rawData: JSON.stringify(RAW) }),
  variables: { minutes: 60 },
  steps: {
    look: { result: { success: true, message: 'Found.', data: { score: 80 } } },
    skipped: {},
  },
};

function decide(step: Partial<PlaybookStep>, context: Partial<StepContext> = {}) {
  const whole = {
    name: 's',
    action: 'quarantine_email',
    parameters: {},
    on_error: 'stop' as const,
  };
  return decideStep({ ...whole, ...step }, { ...CONTEXT, ...context });
}

const ofCondition = (condition: string, context?: Partial<StepContext>) =>
  decide({ parameters: { message_id: 'm' }, condition }, context);

function reasonOf(reason: string, context?: Partial<StepContext>): unknown {
  const decision = decide({ parameters: { message_id: 'm', reason } }, context);
  return decision.decision === 'run' ? decision.parameters.reason : decision;
}

const withRaw = (rawData: string) => ({ incident: incidentWith({ rawData }) });

describe('decideStep', () => {
  it('fills the parameters', () => {
    const parameters = {
      ip: '{{ "192.0.2.1" }}',
      duration_minutes: '{{ variables.minutes * 2 }}',
      reason:
        '{{ incident.incident_number }}: {{ incident.raw_data.count }} mails, score {{ steps.look.result.data.score }}',
    };
    expect(decide({ action: 'block_ip', parameters })).toEqual({
      decision: 'run',
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
  ])('decides the condition %s: %s', (condition, decision) => {
    expect(ofCondition(condition).decision).toBe(decision);
  });

  it.each([
    ['incident.raw_data.other == 1', 18, 'There is no other here.'],
    ['incident.raw_data.count', 0, 'This takes true or false, and here is a number.'],
    ['incident.raw_data.count.contains("5")', 0, 'This takes a text, and here is a number.'],
    ['incident.raw_data.urls[7] == ""', 0, 'The list has no item there.'],
    ['steps.skipped.result.success', 14, 'There is no result here.'],
    ['1 / 0 == 1', 0, 'This divides by zero.'],
  ])('fails when %s has no value, at %d', (condition, offset, message) => {
    expect(ofCondition(condition)).toEqual({
      decision: 'fail',
      problem: { field: '/condition', position: { offset }, message },
    });
  });

  it('fails with the place in the template', () => {
    expect(reasonOf('Seen: {{ incident.raw_data.other }}')).toEqual({
      decision: 'fail',
      problem: {
        field: '/parameters/reason',
        position: { offset: 27 },
        message: 'There is no other here.',
      },
    });
  });

  it.each([
    '{{ incident.raw_data.urls }}',
    'x {{ incident.raw_data.urls }}',
    'x {{ incident.raw_data.nothing }}',
  ])('does not put a value into %s that is no text', (template) => {
    expect(reasonOf(template)).toMatchObject({ problem: { field: '/parameters/reason' } });
  });

  it.each([
    ['{{ incident.raw_data.nothing }}', undefined],
    ['{{ incident.raw_data.count + 1 }} and {{ incident.raw_data.ratio }}', '6 and 0.5'],
    ['{{ incident.raw_data.urls.join(", ") }}', 'https://evil.example/a, https://evil.example/b'],
    ['no {{ "{{" }} and }}', 'no {{ and }}'],
  ])('makes of %s: %j', (template, expected) => {
    expect(reasonOf(template)).toEqual(expected);
  });

  it('does not read a value as a template', () => {
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
  ])('fails when %s would be %j', (name, template) => {
    expect(decide({ parameters: { [name]: template } })).toMatchObject({
      decision: 'fail',
      problem: { field: `/parameters/${name}` },
    });
  });

  it('fails when the target would hide a character, or is none', () => {
    const block = (ip: string) => decide({ action: 'block_ip', parameters: { ip } });
    expect(block('{{ "192.0.2.1\\u200b" }}').decision).toBe('fail');
    expect(block('{{ incident.raw_data.sender }}').decision).toBe('fail');
    expect(decide({ action: 'format_disk' }).decision).toBe('fail');
  });

  it('never lets a template read the verdict', () => {
    expect(reasonOf('{{ verdict.reasoning }}')).toMatchObject({ decision: 'fail' });
    expect(reasonOf('{{ incident.verdict.reasoning }}')).toMatchObject({ decision: 'fail' });
  });

  it('keeps every digit of a number', () => {
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
    expect(ofCondition('int(incident.raw_data.id) == 12345678901234567', raw).decision).toBe('run');
  });

  it('has nothing in incident and verdict when the run is about no incident', () => {
    const none = { incident: undefined };
    expect(ofCondition('has(incident.title) || has(verdict.model)', none).decision).toBe('skip');
    expect(ofCondition('incident.title == ""', none).decision).toBe('fail');
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length'])(
    'knows %s only as a key',
    (key) => {
      const absent = ofCondition(
        `has(incident.raw_data.${key}) || has(incident.${key}) || "${key}" in incident.raw_data`,
      );
      expect(absent.decision).toBe('skip');
      expect(ofCondition(`incident.raw_data.${key} == 1`).decision).toBe('fail');
      expect(ofCondition(`incident.raw_data["${key}"] == 1`).decision).toBe('fail');
      expect(ofCondition(`{"a": 1}["${key}"] == 1`).decision).toBe('fail');
      expect(ofCondition(`"text".${key} == 1`).decision).toBe('fail');
      expect(ofCondition(`[1].${key} == 1`).decision).toBe('fail');
      expect(ofCondition(`${key} == 1`).decision).toBe('fail');
      expect(ofCondition(`"text".${key}() == 1`).decision).toBe('fail');
      expect(ofCondition(`${key}(1) == 1`).decision).toBe('fail');
      const present = withRaw(`{"${key}": {"${key}": 7}}`);
      expect(ofCondition(`incident.raw_data.${key}.${key} == 7`, present).decision).toBe('run');
      expect(ofCondition(`{"${key}": 7}.${key} == 7`).decision).toBe('run');
    },
  );
});
