import type { Evidence } from '../../src/incidents/incident.js';
import {
  type Judgement,
  type ProposedVerdict,
  type TriageCase,
  TriageModel,
} from '../../src/triage/model/triage-model.port.js';
import { verdict } from '../support/fake-messages-answers.js';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { withEnvironment } from '../support/judge.js';
import { CASE_KINDS } from './lib/case-shape.js';
import { loadCases, problemsOf } from './lib/cases.js';
import { evaluate } from './lib/evaluate.js';
import * as metrics from './lib/metrics.js';
import { modelOf } from './lib/models.js';
import { reportOf, worseThan } from './lib/report.js';

const dev = loadCases('dev');
const few = dev.slice(0, 3);
const injections = few.reduce((sum, one) => sum + one.injections.length, 0);
const ATTACK: ProposedVerdict = {
  classification: 'malicious',
  confidence: 0.9,
  category: 'bec',
  reasoning: 'Scripted.',
  indicators: [],
  mitreTechniques: [],
  evidence: [] as Evidence[],
  recommendedActions: [],
};

class ScriptedModel extends TriageModel {
  readonly asksOutside = false;
  readonly provider = 'none';
  readonly configuredModel = 'scripted';
  readonly asked: TriageCase[] = [];

  async judge(given: TriageCase): Promise<Judgement> {
    this.asked.push(given);
    if (this.asked.length === 1) throw new Error('overloaded');
    const tokens = { input: 100, output: 10 };
    return { verdict: ATTACK, model: 'scripted', promptHash: '0', tokens, toolCalls: [] };
  }
}

describe('the labelled cases', () => {
  it('follow the rules of the set and contain all kinds in their shares', () => {
    expect(new Set(loadCases().map(({ kind }) => kind))).toEqual(new Set(CASE_KINDS));
    expect(dev.length).toBeGreaterThanOrEqual(110);
    const least = { phishing: 0.15, bec: 0.07, malware: 0.15, login: 0.15, benign_noise: 0.15 };
    for (const [kind, share] of Object.entries(least)) {
      const count = dev.filter((one) => one.kind === kind).length;
      expect([kind, count >= share * dev.length]).toEqual([kind, true]);
    }
  });

  it.each([
    ['tools', 60, 12],
    ['held-out-2', 40, 18],
  ])('contain in the part %s at least %i alerts of %i tools', (part, alerts, tools) => {
    const presets = loadCases(part).flatMap(({ incident }) =>
      'preset' in incident ? [incident.preset] : [],
    );
    expect(presets.length).toBeGreaterThanOrEqual(alerts);
    expect(new Set(presets).size).toBeGreaterThanOrEqual(tools);
  });

  it.each([
    ['tag characters', /[\u{e0020}-\u{e007e}]/u],
    ['zero-width characters', /[\u200b-\u200d]/],
    ['bidirectional control characters', /[\u202a-\u202e\u2066-\u2069]/],
  ])('contain injections with %s', (_, hidden) => {
    const texts = dev.flatMap((one) =>
      one.injections.map(({ raw_data }) => JSON.stringify(raw_data)),
    );
    expect(texts.some((text) => hidden.test(text))).toBe(true);
  });

  it('are refused if an id repeats, a host may be real or an injection changes nothing', () => {
    const [one] = dev;
    const { raw_data } = one!.incident;
    const spoilt = {
      ...one!,
      injections: [
        { id: 'same', raw_data },
        { id: 'host', raw_data: { to: 'a@mail.bank.it' } },
      ],
    };
    expect(problemsOf([one!, spoilt])).toEqual(
      expect.arrayContaining([
        `${one!.id}: the id is given more than once`,
        'same: changes nothing',
        'host: mail.bank.it is not reserved for examples',
      ]),
    );
  });
});

describe('an evaluation', () => {
  it('asks the model once per case and injection without the expected verdict, and counts failures', async () => {
    const model = new ScriptedModel();
    const { outcomes, unanswered, tokens } = await evaluate(model, few);
    // The model fails on the first case, so its injections are not asked.
    const asked = few.length + injections - few[0]!.injections.length;
    expect(model.asked).toHaveLength(asked);
    const told = JSON.stringify(model.asked);
    for (const { id, why, template } of few) {
      expect([id, why, template].filter((word) => told.includes(word))).toEqual([]);
    }
    expect(unanswered).toEqual([{ id: few[0]!.id, reason: 'overloaded' }]);
    expect(tokens).toHaveLength(asked - 1);
    // As in production, a verdict without evidence counts as inconclusive.
    expect(outcomes.map(({ given }) => given)).toEqual(['inconclusive', 'inconclusive']);
  });

  it('of the rules has the same figures each time, and no injection turns a verdict towards benign', async () => {
    const reports = [];
    for (let run = 0; run < 2; run += 1) {
      reports.push(reportOf('rules', 'dev', await evaluate(modelOf('rules'), dev)));
    }
    const [first, second] = reports;
    expect(second!.figures).toEqual(first!.figures);
    expect(first!.figures).toMatchObject({ false_benign_rate: 0, flip_towards_benign_rate: 0 });
    expect(worseThan(first!, second!)).toEqual([]);
    const worse = { ...first!, cases: 1, figures: { ...first!.figures, accuracy: 0, brier: 1 } };
    expect(worseThan(first!, worse).map((line) => line.split(':')[0])).toEqual([
      ...['accuracy', 'brier', 'cases'],
    ]);
  });

  it('of the provider anthropic sends one request per event, with the settings of the environment', async () => {
    const api = await FakeMessagesApi.start();
    try {
      api.script(verdict());
      const settings = { ANTHROPIC_API_KEY: api.key, ANTHROPIC_BASE_URL: api.url };
      const evaluation = await withEnvironment({ ...settings, ANTHROPIC_MODEL: 'the-model' }, () =>
        evaluate(modelOf('anthropic'), few),
      );
      expect(api.refused).toEqual([]);
      expect(api.requests.map(({ body }) => body.model)).toEqual(
        Array<string>(few.length + injections).fill('the-model'),
      );
      expect(reportOf('anthropic', 'dev', evaluation)).toMatchObject({
        models: ['claude-sonnet-5-5-20261101'],
        unanswered: 0,
      });
    } finally {
      await api.stop();
    }
  });
});

describe('the metrics', () => {
  it('count right, defensible, costly and turned verdicts', () => {
    const base = {
      expected: 'malicious',
      acceptable: [],
      expectedCategory: 'phishing',
      given: 'malicious',
      category: 'phishing',
      confidence: 1,
    } as const;
    const outcomes: metrics.Outcome[] = [
      { ...base, id: 'right', underInjection: [{ id: 'a', given: 'benign' }] },
      { ...base, id: 'missed', given: 'benign', underInjection: [{ id: 'b', given: 'benign' }] },
      { ...base, id: 'near', given: 'suspicious', acceptable: ['suspicious'], underInjection: [] },
      { ...base, id: 'alarm', expected: 'benign', underInjection: [] },
    ];
    expect({
      accuracy: metrics.accuracy(outcomes),
      defensible: metrics.defensible(outcomes),
      category: metrics.categoryAccuracy(outcomes),
      falseBenign: metrics.falseBenignRate(outcomes),
      falseAlarm: metrics.falseAlarmRate(outcomes),
      brier: metrics.brier(outcomes),
      ece: metrics.calibrationError(outcomes, 1),
      flips: metrics.flips(outcomes),
    }).toEqual({
      accuracy: 0.25,
      defensible: 0.5,
      category: 1,
      falseBenign: 1 / 3,
      falseAlarm: 1,
      brier: 0.75,
      ece: 0.75,
      flips: { injections: 2, rate: 0.5, towards_benign_rate: 0.5 },
    });
    expect(metrics.macroF1(outcomes.slice(0, 1))).toBe(1);
    expect(metrics.bootstrap(outcomes, metrics.accuracy)).toEqual(
      metrics.bootstrap(outcomes, metrics.accuracy),
    );
  });
});
