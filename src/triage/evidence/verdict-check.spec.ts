import { cost, LINEAR } from '../../../test/support/cost.js';
import type { ProposedVerdict } from '../model/triage-model.port.js';
import { checkedVerdict, upTo } from './verdict-check.js';

const RAW_DATA = {
  sender: 'ceo@examp1e.com',
  score: 87,
  blocked: false,
  subject: 'Urgent\u200b\u200b payment ',
  blank: ' ',
  unseen: ' \u200b\u2060',
  links: ['https://Evil.Example/Login'],
  long: 'x'.repeat(10_000),
};
const SOURCES = new Map<string, unknown>([
  ['raw_data', RAW_DATA],
  ['t1', { related: [{ host: 'pc-17.corp.example' }] }],
  ['t2', { answered: true, connector: 'intelligence', data: { pointer: 'seen', verdict: 'bad' } }],
]);

const PROPOSED: ProposedVerdict = {
  classification: 'malicious',
  confidence: 0.9,
  category: 'bec',
  reasoning: 'A look-alike domain asks for money.',
  indicators: [],
  mitre_techniques: [],
  evidence: [{ source: 'raw_data', pointer: '/sender', value: 'ceo@examp1e.com' }],
  recommended_actions: ['block_sender'],
};
const { recommended_actions: ACTIONS, ...VERDICT } = PROPOSED;
const check = (change: Partial<ProposedVerdict> = {}) =>
  checkedVerdict({ ...PROPOSED, ...change }, SOURCES);
const checked = (change: Partial<ProposedVerdict> = {}) => check(change).verdict;
const withEvidence = (source: string, pointer: string, value: string | number | boolean) =>
  checked({ evidence: [{ source, pointer, value }] }).evidence;

describe('checkedVerdict', () => {
  it('returns a valid verdict unchanged', () => {
    expect(check()).toEqual({ verdict: VERDICT, recommended_actions: ACTIONS, notes: [] });
  });

  it.each<[string, string, string | number | boolean]>([
    ['raw_data', '/sender', ' ceo@examp1e.com\n'],
    ['raw_data', '/score', 87],
    ['raw_data', '/score', '87'],
    ['raw_data', '/blocked', false],
    ['raw_data', '/links/0', 'https://Evil.Example/Login'],
    ['t1', '/related/0/host', 'pc-17.corp.example'],
    ['t2', '/data/verdict', 'bad'],
    ['t2', '/data/pointer', 'seen'],
  ])('keeps evidence from %s at %s with the value %j', (source, pointer, value) => {
    expect(withEvidence(source, pointer, value)).toHaveLength(1);
  });

  it('accepts a quotation with marks of hidden characters, and stores the original text', () => {
    expect(withEvidence('raw_data', '/subject', 'Urgent⟦U+200B×2⟧ payment')).toEqual([
      { source: 'raw_data', pointer: '/subject', value: 'Urgent\u200b\u200b payment' },
    ]);
  });

  it.each<[string, string, string | number | boolean]>([
    ['t2', '/answered', true],
    ['t2', '/connector', 'intelligence'],
    ['raw_data', '/unseen', ' \u200b\u2060'],
    ['raw_data', '/unseen', '\u200b\u2060'],
    ['raw_data', '/unseen', '⟦U+200B,U+2060⟧'],
    ['raw_data', '/sender', 'ceo@example.com'],
    ['raw_data', '/sender', 'CEO@examp1e.com'],
    ['raw_data', '/sender', 'examp1e.com'],
    ['raw_data', '/score', 88],
    ['raw_data', '/blocked', true],
    ['raw_data', '/blank', ''],
    ['raw_data', '/missing', 'x'],
    ['raw_data', 'sender', 'ceo@examp1e.com'],
    ['raw_data', '/links', 'https://Evil.Example/Login'],
    ['raw_data', '/links/length', 1],
    ['raw_data', '/constructor/name', 'Object'],
    ['raw_data', '/__proto__', 'x'],
    ['raw_data', '', 'x'],
    ['t2', '/related/0/host', 'pc-17.corp.example'],
    ['__proto__', '/sender', 'ceo@examp1e.com'],
  ])('drops evidence that %s does not have at %j: %j', (source, pointer, value) => {
    expect(withEvidence(source, pointer, value)).toEqual([]);
  });

  it.each(['/a\0', '/\ud800', `/${'a'.repeat(600)}`])(
    'drops a pointer that cannot be stored: %j',
    (pointer) => {
      const evidence = [{ source: 'raw_data', pointer, value: 'x' }];
      const sources = new Map([['raw_data', { [pointer.slice(1)]: 'x' }]]);
      expect(checkedVerdict({ ...PROPOSED, evidence }, sources).verdict.evidence).toEqual([]);
    },
  );

  it('replaces characters that PostgreSQL cannot store, and cuts a very long text', () => {
    const sources = new Map([['raw_data', { a: 'x\0\ud800y', long: RAW_DATA.long }]]);
    const evidence = [
      { source: 'raw_data', pointer: '/a', value: 'x\0\ud800y' },
      { source: 'raw_data', pointer: '/long', value: RAW_DATA.long },
    ];
    expect(checkedVerdict({ ...PROPOSED, evidence }, sources).verdict.evidence).toEqual([
      { source: 'raw_data', pointer: '/a', value: 'x\ufffd\ufffdy' },
      { source: 'raw_data', pointer: '/long', value: 'x'.repeat(4_096) },
    ]);
  });

  it('keeps each piece of evidence once, and notes the number of dropped pieces', () => {
    const [piece] = PROPOSED.evidence;
    const { verdict, notes } = check({
      evidence: [piece!, piece!, { ...piece!, value: 'made up' }],
    });
    expect(verdict.evidence).toEqual([piece]);
    expect(notes).toEqual([
      'Evidence that was left out: 2. It is not in the data, or was given twice.',
    ]);
  });

  it.each(['malicious', 'benign'] as const)(
    'makes a %s verdict without valid evidence inconclusive',
    (classification) => {
      const evidence = [{ source: 'raw_data', pointer: '/sender', value: 'made up' }];
      expect(check({ classification, evidence })).toMatchObject({
        verdict: { classification: 'inconclusive', confidence: 0, evidence: [] },
        recommended_actions: [],
        notes: ["The model's evidence could not be found in the data."],
      });
    },
  );

  it.each(['suspicious', 'inconclusive'] as const)(
    'returns a %s verdict without evidence unchanged',
    (classification) => {
      expect(check({ classification, evidence: [] })).toEqual({
        verdict: { ...VERDICT, classification, evidence: [] },
        recommended_actions: ACTIONS,
        notes: [],
      });
    },
  );

  it.each([
    [7, 1],
    [-1, 0],
    [0.5, 0.5],
  ])('limits the confidence %d to %d', (confidence, clamped) => {
    expect(checked({ confidence }).confidence).toBe(clamped);
  });

  it.each(['Phishing', 'a b', '', '1a', 'a'.repeat(65), 'a\n', '__proto__'])(
    'replaces the category %j by unknown',
    (category) => {
      expect(checked({ category }).category).toBe('unknown');
    },
  );

  it('removes links and hidden characters from the reasoning, and limits its length', () => {
    const reasoning = (text: string) => checked({ reasoning: text }).reasoning;
    expect(reasoning('See https://evil.example\u202e\0 now\nplease')).toBe(
      'See hxxps://evil[.]example now\nplease',
    );
    expect(reasoning('x'.repeat(1_000_000))).toHaveLength(4_000);
    expect(reasoning(`${'x'.repeat(3_999)}😀`).isWellFormed()).toBe(true);
  });

  it('keeps only known actions, each once, and at most ten', () => {
    const recommend = (recommended_actions: string[]) =>
      check({ recommended_actions }).recommended_actions;
    expect(recommend(['block_ip', 'rm -rf', 'block_ip', 'constructor', '__proto__'])).toEqual([
      'block_ip',
    ]);
    const many =
      'quarantine_email release_email delete_email block_sender unblock_sender isolate_host unisolate_host scan_host disable_user enable_user block_ip';
    expect(recommend(many.split(' '))).toHaveLength(10);
  });

  it('keeps only valid ids of techniques, each once', () => {
    const ids = [
      'T1566',
      'T1566.001',
      'T1566',
      'T1566.1',
      't1566',
      'TA0001',
      'phishing',
      '',
      'T1566\n',
    ];
    expect(checked({ mitre_techniques: ids }).mitre_techniques).toEqual(['T1566', 'T1566.001']);
  });

  it('limits the size of a verdict, and keeps only complete evidence', () => {
    const long = 'x'.repeat(1_500);
    const values = Array.from({ length: 300 }, (_, index) => `${long}${index}`);
    const verdict = {
      ...PROPOSED,
      reasoning: 'x'.repeat(10_000_000),
      indicators: values.map((value) => ({ type: 'url', value })),
      evidence: values.map((value, at) => ({ source: 'raw_data', pointer: `/${at}`, value })),
    };
    const kept = checkedVerdict(verdict, new Map([['raw_data', values]])).verdict;
    expect(JSON.stringify(kept).length).toBeLessThan(200_000);
    expect(kept.indicators.length).toBeGreaterThan(20);
    expect(kept.evidence.length).toBeGreaterThan(20);
    expect(kept.evidence).toEqual(verdict.evidence.slice(0, kept.evidence.length));
  });

  it('keeps indicators that occur in the data in any spelling, with the place where they occur', () => {
    const { indicators } = checked({
      indicators: [
        { type: 'url', value: 'hxxps://evil[.]example/login', found_in: '/made/up' },
        { type: 'domain', value: 'evil.example' },
        { type: 'domain', value: 'EVIL.EXAMPLE' },
        { type: 'host', value: 'pc-17.corp.example' },
        { type: 'domain', value: 'innocent.example' },
        { type: 'user', value: 'c' },
        { type: 'user', value: '\0\ud800xx' },
      ],
    });
    expect(indicators).toEqual([
      { type: 'url', value: 'https://evil.example/login', found_in: '/links/0' },
      { type: 'domain', value: 'evil.example', found_in: '/links/0' },
      { type: 'host', value: 'pc-17.corp.example' },
    ]);
  });

  it('keeps at most 50 indicators', () => {
    const hosts = Array.from({ length: 300 }, (_, index) => `host-${index}.example`);
    const indicators = hosts.map((value) => ({ type: 'host', value }));
    const sources = new Map([['raw_data', { ...RAW_DATA, hosts }]]);
    expect(checkedVerdict({ ...PROPOSED, indicators }, sources).verdict.indicators).toHaveLength(
      50,
    );
  });

  it.each(['a\u200b', '[.]', '<!--', 'x'])(
    'checks a very large verdict against a mebibyte of %j in linear time',
    async (part) => {
      const work = (length: number) => {
        const rawData = { a: part.repeat(length / part.length) };
        const long = 'evil.example '.repeat(length / 13);
        const evidence = { source: 'raw_data', pointer: '/a', value: 'x' };
        const count = Math.ceil(length / 200);
        const verdict = {
          ...PROPOSED,
          reasoning: long,
          evidence: Array.from({ length: count }, () => evidence),
          indicators: Array.from({ length: count }, (_, index) => ({
            type: 'host',
            value: `host-${index}`,
          })),
          mitre_techniques: Array.from({ length: count }, () => long),
        };
        const checked = checkedVerdict(verdict, new Map([['raw_data', rawData]])).verdict;
        expect([checked.evidence, checked.indicators]).toEqual([[], []]);
      };
      expect(await cost(work, 1_048_576)).toBeLessThan(LINEAR);
    },
  );

  it('searches repetitive values in a repetitive text in linear time', async () => {
    const half = 'a'.repeat(1_000);
    const indicators = Array.from({ length: 50 }, (_, index) => ({
      type: 'host',
      value: `${half}b${half}${index}`.slice(index % 2 === 0 ? 0 : 1_850),
    }));
    const work = (length: number) => {
      const sources = new Map([['raw_data', { a: 'a'.repeat(length) }]]);
      const { verdict } = checkedVerdict({ ...PROPOSED, indicators }, sources);
      expect(verdict.indicators).toEqual([]);
    };
    expect(await cost(work, 1_000_000)).toBeLessThan(LINEAR);
  });

  it('finds an indicator value of more than 400 characters that is a whole word in the raw data', () => {
    const value = `https://login.example/${'x'.repeat(400)}`;
    const sources = new Map([['raw_data', { body: `Go to <${value}> now.` }]]);
    const verdict = { ...PROPOSED, indicators: [{ type: 'url', value }] };
    expect(checkedVerdict(verdict, sources).verdict.indicators).toEqual([
      { type: 'url', value, found_in: '/body' },
    ]);
  });

  it('does not throw for sources of any type', () => {
    for (const source of [undefined, null, 1, 'x', [], [[[]]]]) {
      const sources = new Map([['raw_data', source]]);
      expect(checkedVerdict(PROPOSED, sources).verdict.classification).toBe('inconclusive');
    }
  });
});

describe('upTo', () => {
  it('keeps the first items that fit', () => {
    const items = [{ a: 'x' }, { a: 'y' }, { a: 'z'.repeat(99) }, { a: 'w' }];
    expect(upTo(1_000, items)).toEqual(items);
    expect(upTo(50, items)).toEqual(items.slice(0, 2));
    expect(upTo(0, items)).toEqual([]);
  });
});
