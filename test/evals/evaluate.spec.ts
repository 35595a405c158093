import type { Evidence } from '../../src/incidents/incident.js';
import type { TriageCase } from '../../src/triage/model/triage-model.port.js';
import { loadCases } from './lib/cases.js';
import { evaluate } from './lib/evaluate.js';
import { EVALUATED, modelOf } from './lib/models.js';
import { type Report, reportOf, worseThan } from './lib/report.js';
import { ScriptedModel } from './lib/scripted-model.js';

const cases = loadCases('dev').slice(0, 6);
const injections = cases.reduce((sum, one) => sum + one.injections.length, 0);

const verdict = {
  classification: 'malicious',
  confidence: 0.9,
  category: 'bec',
  reasoning: 'Scripted.',
  indicators: [],
  mitreTechniques: [],
  evidence: [] as Evidence[],
  recommendedActions: [],
} as const;

describe('evaluate', () => {
  it('asks about each case and each injection, and counts what was used', async () => {
    const report = reportOf('scripted', 'dev', await evaluate(new ScriptedModel(), cases));
    expect(report).toMatchObject({
      provider: 'scripted',
      models: ['scripted'],
      cases: cases.length,
      injections,
      unanswered: 0,
      tokens: {
        input: 100 * (cases.length + injections),
        output: 10 * (cases.length + injections),
      },
    });
    expect(report.note).toContain('not of a model');
  });

  it('believes no verdict without evidence, as production does not', async () => {
    const { outcomes } = await evaluate(new ScriptedModel(() => verdict), cases);
    expect(new Set(outcomes.map(({ given }) => given))).toEqual(new Set(['inconclusive']));
  });

  it('tells a model nothing of what is expected', async () => {
    const seen: string[] = [];
    const model = new ScriptedModel((given) => {
      seen.push(JSON.stringify(given));
      return verdict;
    });
    await evaluate(model, cases);
    for (const { id, why, template } of cases) {
      const told = seen.filter((text) => [id, why, template].some((word) => text.includes(word)));
      expect(told).toEqual([]);
    }
  });

  it('reads a body of a tool by its preset, as the source in production does', async () => {
    const seen: TriageCase[] = [];
    const model = new ScriptedModel((given) => {
      seen.push(given);
      return verdict;
    });
    const alert = loadCases('tools').find(({ id }) => id === 'tools-falcon-ransomware-prevented')!;
    const { unanswered } = await evaluate(model, [alert]);
    expect(unanswered).toEqual([]);
    expect(seen[0]).toMatchObject({
      incidentType: 'ransomware',
      severity: 'critical',
      source: 'crowdstrike_epp',
      title: expect.stringContaining('RansomwareFileEncryption') as string,
      rawData: { display_name: 'RansomwareFileEncryption' },
      fields: { host: 'WS-0142', user: 't.aalto' },
    });
  });

  it('goes on when an event gets no verdict, and says which one', async () => {
    let asked = 0;
    const model = new ScriptedModel(() => {
      asked += 1;
      if (asked === 1) throw new Error('overloaded');
      return verdict;
    });
    const { outcomes, unanswered } = await evaluate(model, cases);
    expect(unanswered).toEqual([{ id: cases[0]!.id, reason: 'overloaded' }]);
    expect(outcomes).toHaveLength(cases.length - 1);
  });

  it('gets the same figures of the rules each time, and no injection that moves them towards benign', async () => {
    const all = loadCases('dev');
    const [first, second] = [
      await evaluate(modelOf('rules'), all),
      await evaluate(modelOf('rules'), all),
    ];
    const report = reportOf('rules', 'dev', first);
    expect(reportOf('rules', 'dev', second).figures).toEqual(report.figures);
    expect(report.figures).toMatchObject({ false_benign_rate: 0, flip_towards_benign_rate: 0 });
  });
});

describe('worseThan', () => {
  let recorded: Report;
  beforeAll(async () => {
    recorded = reportOf('rules', 'dev', await evaluate(modelOf('rules'), cases));
  });
  const now = (changes: Partial<Report['figures']>): Report => ({
    ...recorded,
    figures: { ...recorded.figures, ...changes },
  });

  it('finds nothing when the figures are the same or better', () => {
    expect(worseThan(recorded, now({}))).toEqual([]);
    expect(worseThan(recorded, now({ accuracy: 1, brier: 0 }))).toEqual([]);
  });

  it.each([
    { accuracy: 0 },
    { macro_f1: 0 },
    { brier: 1 },
    { false_benign_rate: 0.5 },
    { flip_rate: 1 },
  ])('names the figure that is worse: %j', (changes) => {
    const [name] = Object.keys(changes);
    expect(worseThan(recorded, now(changes))).toEqual([expect.stringContaining(`${name}: `)]);
  });

  it('notices when there are fewer cases, or verdicts', () => {
    expect(worseThan(recorded, { ...recorded, cases: 1, unanswered: 5 })).toHaveLength(2);
  });
});

describe('modelOf', () => {
  it('refuses a name that it does not know and says which ones there are', () => {
    expect(EVALUATED).toContain('rules');
    expect(() => modelOf('constructor')).toThrow(/^No provider constructor: there are rules/);
  });
});
