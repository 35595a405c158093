import type { FieldError } from '../../platform/errors/app-error.js';
import { checkPlaybook } from './check-playbook.js';
import type { PlaybookStep } from '../playbook.js';

type Playbook = Parameters<typeof checkPlaybook>[0];

const QUARANTINE: PlaybookStep = {
  name: 'quarantine',
  action: 'quarantine_email',
  parameters: { message_id: '{{ incident.raw_data.message_id }}', reason: 'phishing' },
  on_error: 'stop',
};

function withSteps(...steps: Partial<PlaybookStep>[]): Playbook {
  const named = steps.map((step, index) => ({ ...QUARANTINE, name: `step_${index}`, ...step }));
  return {
    variables: { minutes: 60, note: 'seen', tags: ['a'], at: {}, any: null, on: true },
    steps: named,
  };
}

/** Returns the field of an error and the position in the field. */
const told = ({ field, message }: FieldError) =>
  [field, ...(message.slice(field.length).match(/^ at character \d+/) ?? [])].join('');

const ofCondition = (condition: string) => checkPlaybook(withSteps({}, { condition }));
const ofReason = (reason: string) =>
  checkPlaybook(withSteps({}, { parameters: { message_id: 'm', reason } }));
const ofMinutes = (duration_minutes: unknown) =>
  checkPlaybook(
    withSteps({ action: 'block_ip', parameters: { ip: '192.0.2.1', duration_minutes } }),
  );

describe('checkPlaybook', () => {
  it('returns no errors for a valid playbook', () => {
    expect(
      checkPlaybook(
        withSteps(
          { action: 'lookup_url', parameters: { url: '{{ incident.raw_data.urls[0] }}' } },
          {
            condition:
              'verdict.classification == "malicious" && has(steps.step_0.result) && steps.step_0.result.data.score > 70',
            approval_level: 'senior',
          },
          {
            action: 'block_ip',
            parameters: {
              ip: '{{ incident.raw_data.ip }}',
              duration_minutes: '{{ variables.minutes * 2 }}',
              reason: 'Seen in {{ incident.incident_number }}: {{ variables.note }}',
            },
          },
        ),
      ),
    ).toEqual([]);
  });

  it.each([
    ['true'],
    ['incident.severity in ["high", "critical"]'],
    ['incident.raw_data.flag'],
    ['has(incident.resolution)'],
    ['incident.raw_data.urls.exists(u, u.contains("evil"))'],
    ['verdict.confidence >= 0.9 && "T1566" in verdict.mitre_techniques'],
    ['verdict.recommended_actions.exists(a, a == "block_sender")'],
    ['variables.minutes == 60 && variables.minutes + 1 > 2'],
    ['variables["minutes"] > 5 && variables.on'],
    ['timestamp(incident.created_at) - timestamp(incident.raw_data.at) < duration("5m")'],
    ['timestamp(incident.created_at).getHours("Europe/Zurich") >= 18'],
    ['steps.step_0.result.success'],
    ['incident.title != "verdict"'],
  ])('accepts the condition %s', (condition) => {
    expect(ofCondition(condition)).toEqual([]);
  });

  it.each([
    ['incident.severity', 1],
    ['incident.severity ==', 21],
    ['', 1],
    ['incident.colour == "red"', 10],
    ['has(incident.colour)', 14],
    ['incident.verdict.classification == "malicious"', 10],
    ['incident.recommended_actions == []', 10],
    ['incident.severity > 3', 1],
    ['variables.hours > 1', 11],
    ['steps.step_1.result.success', 7],
    ['steps.step_2.result.success', 7],
    ['has(steps.other.result)', 11],
    ['size(steps) > 0', 6],
    ['steps[incident.title].result.success', 1],
    ['steps.step_0.status == "completed"', 14],
    ['incident.title.matches("a")', 16],
    ['environment.PATH == ""', 1],
    ['incident.title.foo()', 16],
    ['incident.title.isIP()', 16],
    ['incident.raw_data.ip.isIP()', 22],
    ['incident.raw_data.size.int() == 1', 24],
    ['incident.raw_data.has(incident.id)', 19],
    ['contains(incident.title, "a")', 1],
    ['trim(incident.raw_data.a) == "a"', 1],
    ['eval("1")', 1],
    ['cel.bind(x, 1, true)', 5],
    ['b"x" == b"x"', 1],
    ['1u == 1u', 1],
    ['type(1) == int', 1],
    ['[1].exists(verdict, true)', 5],
    ['incident.title ? true : false', 10],
    ['[[[[[1]]]]] == []', 1],
    ['[[1]].map(x, [x]).map(x, [x]) == []', 1],
    ['{1: 2} == {}', 1],
    ['{incident.title: 2} == {}', 1],
    ['has(incident.title, incident.id)', 1],
    ['size("a", "b") == 1', 1],
    ['[1].all(1, true)', 9],
    [`${'('.repeat(70)}true${')'.repeat(70)}`, 61],
    [`${'!'.repeat(1_900)}true`, 1401],
    [Array(400).fill('true').join('||'), 1],
    [`incident.raw_data${'.a'.repeat(900)} == 1`, 134],
  ])('rejects the condition %s at character %d', (condition, expected) => {
    const [error, ...more] = ofCondition(condition);
    expect(told(error!)).toBe(`steps.1.condition at character ${expected}`);
    expect(error!.message).toMatch(/: .*\.$/s);
    expect(more).toEqual([]);
  });

  it.each([
    ['{{ incident.title }}'],
    ['{{ has(incident.raw_data.why) ? incident.raw_data.why : dyn(null) }}'],
    ['{{ incident.raw_data.count }} mails, {{ 1 + 1 }}, {{ true }}'],
    ['a }} alone, { and }'],
    ['{{ {"a": {"b": "}}"} }.a.b }}'],
    ["{{ '}}' + '\\'}}' + r'a' }}"],
  ])('accepts the template %s', (template) => {
    expect(ofReason(template)).toEqual([]);
  });

  it.each([
    ['{{ incident.title', 1],
    ['ab {{ "}} }}', 4],
    ['{{ }}', 4],
    ['{{ incident.colour }}', 13],
    ['a {{ verdict.reasoning }}', 6],
    ['{{ steps.step_1.result.message }}', 10],
    ['{{ 5 }}', 4],
    ['{{ incident.raw_data }}', 4],
    ['all of {{ incident.raw_data }}', 11],
    ['{{ null }}', 4],
    ['{{ incident.raw_data.a.raw() }}', 24],
    [`{{ "${'a'.repeat(2_000)}" }}`, 3],
    ['x'.repeat(8_200) + '{{ 1 }}', 1],
  ])('rejects the template %s at character %d', (template, position) => {
    expect(ofReason(template).map(told)).toEqual([
      `steps.1.parameters.reason at character ${position}`,
    ]);
  });

  it.each(['has(steps.step_1.result)', 'steps.step_2.result.success', 'steps["x"].result.success'])(
    'rejects %s, which does not name an earlier step',
    (condition) => {
      const [{ message } = { message: '' }] = checkPlaybook(withSteps({}, { condition }, {}));
      expect(message).toMatch(/: There is no \w+ in the earlier steps\.$/);
    },
  );

  it.each(['9223372036854775807', '-9223372036854775808', '0x7fffffffffffffff', '0'])(
    'accepts the whole number %s in a condition',
    (number) => {
      expect(ofCondition(`${number} < 1.5`)).toEqual([]);
    },
  );

  it('rejects a template that reads the verdict', () => {
    expect(ofReason('{{ verdict.reasoning }}')[0]!.message).toMatch(
      /: A template cannot read the verdict; only a condition can\.$/,
    );
  });

  it('rejects the classification in a condition and in a parameter that is not for people', () => {
    const text = '{{ incident.classification }}';
    const parameters = { channel: '#soc', message: text };
    expect(checkPlaybook(withSteps({ action: 'notify_channel', parameters }))).toEqual([]);
    const problem = /: There is no classification in incident\.$/;
    expect(ofReason(text)[0]!.message).toMatch(problem);
    expect(ofCondition('incident["classification"] == "malicious"')[0]!.message).toMatch(problem);
    const target = { channel: `#${text}`, message: 'm' };
    const steps = withSteps({ action: 'notify_channel', parameters: target });
    expect(checkPlaybook(steps)[0]!.message).toMatch(problem);
  });

  it.each([60, '{{ variables.minutes }}', '{{ incident.raw_data.minutes }}', '{{ 5 * 12 }}'])(
    'accepts %j as the value of a parameter that is a whole number',
    (value) => {
      expect(ofMinutes(value)).toEqual([]);
    },
  );

  it.each(['60', 1.5, null, '{{ "60" }}', '{{ variables.note }}', '6{{ 0 }}', '{{ 5 }} '])(
    'rejects %j as the value of a parameter that is a whole number',
    (value) => {
      expect(ofMinutes(value)).toMatchObject([{ field: 'steps.0.parameters.duration_minutes' }]);
    },
  );

  it.each<[Partial<PlaybookStep>, string]>([
    [{ name: 'Quarantine' }, 'name'],
    [{ name: 'a-b' }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'in' }, 'name'],
    [{ name: '__proto__' }, 'name'],
    [{ name: 'a'.repeat(64) }, 'name'],
    [{ parameters: {} }, 'parameters.message_id'],
    [{ parameters: { message_id: ' ' } }, 'parameters.message_id'],
    [{ parameters: { message_id: 7 } }, 'parameters.message_id'],
    [{ parameters: { message_id: 'm', 'a/b': '{{ 1 }}' } }, 'parameters.a/b'],
    [{ parameters: { message_id: 'm', constructor: 'x' } }, 'parameters.constructor'],
    [{ action: 'scan_host', parameters: { host_id: 'h', scan_type: 'x' } }, 'parameters.scan_type'],
    [{ action: 'lookup_ip', parameters: { ip: '10.0.0.0/8' } }, 'parameters.ip'],
  ])('rejects the step %j and names the field %s', (step, field) => {
    const [error, ...more] = checkPlaybook(withSteps(step));
    expect(error).toMatchObject({ field: `steps.0.${field}`, code: 'playbook' });
    expect(error!.message).toMatch(/^steps\.0\..* .*\.$/);
    expect(more).toEqual([]);
  });

  it('rejects a step with the name of an earlier step', () => {
    const twice = checkPlaybook(withSteps({ name: 'a' }, { name: 'a' }));
    expect(twice.map(told)).toEqual(['steps.1.name']);
  });

  it.each(['a-b', 'A', '__proto__', 'true', 'a b'])('rejects a variable named %s', (name) => {
    const variables = JSON.parse(`{"${name}": 1}`) as Record<string, unknown>;
    expect(checkPlaybook({ variables, steps: [] })).toMatchObject([{ field: `variables.${name}` }]);
  });

  it('rejects a definition that is too long or has too many expressions', () => {
    expect(checkPlaybook({ variables: { a: 'x'.repeat(140_000) }, steps: [] })).toMatchObject([
      { field: '' },
    ]);
    expect(ofReason('{{1}}'.repeat(50))).toEqual([]);
    expect(ofReason('{{1}}'.repeat(51)).map(told)).toEqual([
      'steps.1.parameters.reason at character 251',
    ]);
    expect(ofReason('{{1}}'.repeat(10_000)).map(told)).toEqual([
      'steps.1.parameters.reason at character 1',
    ]);
  });

  it('returns the errors of all steps, at most 100', () => {
    expect(checkPlaybook(withSteps({ name: 'X' }, {}, { condition: '1' })).map(told)).toEqual([
      'steps.0.name',
      'steps.2.condition at character 1',
    ]);
    const unknown = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`p${i}`, 1]));
    expect(checkPlaybook(withSteps({ parameters: unknown }, { parameters: unknown }))).toHaveLength(
      100,
    );
  });

  it('shortens an unknown name in the message', () => {
    const variables = { [`x\0${'a'.repeat(10_000)}`]: 1 };
    const [problem] = checkPlaybook({ variables, steps: [] });
    expect(problem!.message.length).toBeLessThan(300);
    expect(problem!.message).not.toContain('\0');
  });
});
