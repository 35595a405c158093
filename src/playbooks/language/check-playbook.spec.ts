import { checkPlaybook, checkVariables } from './check-playbook.js';
import type { PlaybookDefinition, PlaybookStep, Problem } from './playbook-definition.js';

const QUARANTINE: PlaybookStep = {
  name: 'quarantine',
  action: 'quarantine_email',
  parameters: { message_id: '{{ incident.raw_data.message_id }}', reason: 'phishing' },
  on_error: 'stop',
};

function withSteps(...steps: Partial<PlaybookStep>[]): PlaybookDefinition {
  const named = steps.map((step, index) => ({ ...QUARANTINE, name: `step_${index}`, ...step }));
  return {
    variables: { minutes: 60, note: 'seen', tags: ['a'], at: {}, any: null, on: true },
    steps: named,
  };
}

const told = ({ step, field, position }: Problem) =>
  [step ?? '-', field, position?.offset ?? '-'].join(' ');

const ofCondition = (condition: string) => checkPlaybook(withSteps({}, { condition }));
const ofReason = (reason: string) =>
  checkPlaybook(withSteps({}, { parameters: { message_id: 'm', reason } }));
const ofMinutes = (duration_minutes: unknown) =>
  checkPlaybook(
    withSteps({ action: 'block_ip', parameters: { ip: '192.0.2.1', duration_minutes } }),
  );

describe('checkPlaybook', () => {
  it('finds nothing in a playbook that is right', () => {
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
  ])('takes the condition %s', (condition) => {
    expect(ofCondition(condition)).toEqual([]);
  });

  it.each([
    ['incident.severity', '1 /condition 0'],
    ['incident.severity ==', '1 /condition 20'],
    ['', '1 /condition 0'],
    ['incident.colour == "red"', '1 /condition 9'],
    ['has(incident.colour)', '1 /condition 13'],
    ['incident.verdict.classification == "malicious"', '1 /condition 9'],
    ['incident.recommended_actions == []', '1 /condition 9'],
    ['incident.severity > 3', '1 /condition 0'],
    ['variables.hours > 1', '1 /condition 10'],
    ['steps.step_1.result.success', '1 /condition 6'],
    ['steps.step_2.result.success', '1 /condition 6'],
    ['has(steps.other.result)', '1 /condition 10'],
    ['size(steps) > 0', '1 /condition 5'],
    ['steps[incident.title].result.success', '1 /condition 0'],
    ['steps.step_0.status == "completed"', '1 /condition 13'],
    ['incident.title.matches("a")', '1 /condition 0'],
    ['environment.PATH == ""', '1 /condition 0'],
    ['incident.title.foo()', '1 /condition 0'],
    ['eval("1")', '1 /condition 0'],
    ['cel.bind(x, 1, true)', '1 /condition 0'],
    ['b"x" == b"x"', '1 /condition 0'],
    ['1u == 1u', '1 /condition 0'],
    ['type(1) == int', '1 /condition 0'],
    ['[1].exists(verdict, true)', '1 /condition 11'],
    ['incident.title ? true : false', '1 /condition 9'],
    ['[[[[[1]]]]] == []', '1 /condition 0'],
    ['[[1]].map(x, [x]).map(x, [x]) == []', '1 /condition 0'],
    ['{1: 2} == {}', '1 /condition 0'],
    ['{incident.title: 2} == {}', '1 /condition 0'],
    ['incident.title.indexOf("a", 1) > 0', '1 /condition 0'],
    ['has(incident.title, incident.id)', '1 /condition 0'],
    ['size("a", "b") == 1', '1 /condition 0'],
    ['[1].all(1, true)', '1 /condition 8'],
    ['[1].all(x, [1].all(y, [1].all(z, true)))', '1 /condition 22'],
    [`${'('.repeat(70)}true${')'.repeat(70)}`, '1 /condition 60'],
    [`${'!'.repeat(1_900)}true`, '1 /condition 1400'],
    [Array(400).fill('true').join('||'), '1 /condition 0'],
    [`incident.raw_data${'.a'.repeat(900)} == 1`, '1 /condition 133'],
  ])('refuses the condition %s at %s', (condition, expected) => {
    const [problem, ...more] = ofCondition(condition);
    expect(told(problem!)).toBe(expected);
    expect(problem!.message).toMatch(/^[A-Z].*\.$/s);
    expect(more).toEqual([]);
  });

  it.each([
    ['{{ incident.title }}'],
    ['{{ has(incident.raw_data.why) ? incident.raw_data.why : dyn(null) }}'],
    ['{{ incident.raw_data.count }} mails, {{ 1 + 1 }}, {{ true }}'],
    ['a }} alone, { and }'],
    ['{{ {"a": {"b": "}}"}}.a.b }}'],
    ["{{ '}}' + '\\'}}' + r'a' + '''it's }}''' }}"],
  ])('takes the template %s', (template) => {
    expect(ofReason(template)).toEqual([]);
  });

  it.each([
    ['{{ incident.title', 0],
    ['ab {{ "}} }}', 3],
    ['{{ }}', 3],
    ['{{ incident.colour }}', 12],
    ['a {{ verdict.reasoning }}', 5],
    ['{{ steps.step_1.result.message }}', 9],
    ['{{ 5 }}', 2],
    ['{{ incident.raw_data }}', 2],
    ['all of {{ incident.raw_data }}', 9],
    ['{{ null }}', 2],
    [`{{ "${'a'.repeat(2_000)}" }}`, 2],
    ['x'.repeat(8_200) + '{{ 1 }}', 0],
  ])('refuses the template %s at %d', (template, offset) => {
    expect(ofReason(template).map(told)).toEqual([`1 /parameters/reason ${offset}`]);
  });

  it('says that only conditions read the verdict', () => {
    expect(ofReason('{{ verdict.reasoning }}')[0]!.message).toBe(
      'A template cannot read the verdict; only a condition can.',
    );
  });

  it.each([60, '{{ variables.minutes }}', '{{ incident.raw_data.minutes }}', '{{ 5 * 12 }}'])(
    'takes %j as a whole number',
    (value) => {
      expect(ofMinutes(value)).toEqual([]);
    },
  );

  it.each(['60', 1.5, null, '{{ "60" }}', '{{ variables.note }}', '6{{ 0 }}', '{{ 5 }} '])(
    'refuses %j as a whole number',
    (value) => {
      expect(ofMinutes(value)).toMatchObject([{ step: 0, field: '/parameters/duration_minutes' }]);
    },
  );

  it.each<[Partial<PlaybookStep>, string]>([
    [{ name: 'Quarantine' }, '/name'],
    [{ name: 'a-b' }, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'in' }, '/name'],
    [{ name: '__proto__' }, '/name'],
    [{ name: 'a'.repeat(64) }, '/name'],
    [{ action: 'format_disk' }, '/action'],
    [{ action: 'constructor' }, '/action'],
    [{ parameters: {} }, '/parameters/message_id'],
    [{ parameters: { message_id: ' ' } }, '/parameters/message_id'],
    [{ parameters: { message_id: 7 } }, '/parameters/message_id'],
    [{ parameters: { message_id: 'm', 'a/b': '{{ 1 }}' } }, '/parameters/a~1b'],
    [{ parameters: { message_id: 'm', constructor: 'x' } }, '/parameters/constructor'],
    [
      { action: 'scan_host', parameters: { host_id: 'h', scan_type: 'x' } },
      '/parameters/scan_type',
    ],
    [{ action: 'lookup_ip', parameters: { ip: '10.0.0.0/8' } }, '/parameters/ip'],
  ])('refuses the step %j at %s', (step, field) => {
    expect(checkPlaybook(withSteps(step))).toMatchObject([{ step: 0, field }]);
  });

  it('refuses a name that an earlier step has', () => {
    const twice = checkPlaybook(withSteps({ name: 'a' }, { name: 'a' }));
    expect(twice.map(told)).toEqual(['1 /name -']);
  });

  it.each(['a-b', 'A', '__proto__', 'true', 'a b'])('refuses a variable called %s', (name) => {
    const variables = JSON.parse(`{"${name}": 1}`) as Record<string, unknown>;
    expect(checkPlaybook({ variables, steps: [] })).toMatchObject([
      { field: `/variables/${name}` },
    ]);
  });

  it('refuses too many steps, too long a definition and too many expressions', () => {
    expect(checkPlaybook(withSteps(...Array<object>(51).fill({})))).toMatchObject([
      { field: '/steps' },
    ]);
    expect(checkPlaybook({ variables: { a: 'x'.repeat(140_000) }, steps: [] })).toMatchObject([
      { field: '' },
    ]);
    expect(ofReason('{{1}}'.repeat(50))).toEqual([]);
    expect(ofReason('{{1}}'.repeat(51)).map(told)).toEqual(['1 /parameters/reason 250']);
    expect(ofReason('{{1}}'.repeat(10_000)).map(told)).toEqual(['1 /parameters/reason 0']);
  });

  it('tells every wrong step, and at most a hundred problems', () => {
    expect(checkPlaybook(withSteps({ action: 'x' }, {}, { condition: '1' })).map(told)).toEqual([
      '0 /action -',
      '2 /condition 0',
    ]);
    const unknown = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`p${i}`, 1]));
    expect(checkPlaybook(withSteps({ parameters: unknown }, { parameters: unknown }))).toHaveLength(
      100,
    );
  });

  it('shows no wrong name of any length whole', () => {
    const [problem] = checkPlaybook(withSteps({ action: `x\0${'a'.repeat(10_000)}` }));
    expect(problem!.message.length).toBeLessThan(200);
    expect(problem!.message).not.toContain('\0');
  });
});

describe('checkVariables', () => {
  const { variables } = withSteps();

  it('takes values of the types that the playbook has', () => {
    expect(checkVariables(variables, {})).toEqual([]);
    const given = { minutes: 1.5, note: '', tags: [], at: { a: 1 }, any: 'x', on: false };
    expect(checkVariables(variables, given)).toEqual([]);
  });

  it.each([
    { minutes: '5' },
    { note: null },
    { tags: {} },
    { at: [] },
    { on: 1 },
    { other: 1 },
    { constructor: 1 },
    JSON.parse('{"__proto__": 1}') as object,
  ])('refuses %j', (given) => {
    expect(checkVariables(variables, { ...given })).toMatchObject([
      { field: `/variables/${Object.keys(given)[0]}` },
    ]);
  });
});
