import type { ProposedVerdict } from '../model/triage-model.port.js';
import { knownActions, runVerdict } from './triage-judging.js';

const proposed = (more: object = {}): ProposedVerdict => ({
  classification: 'malicious',
  confidence: 0.5,
  category: 'bec',
  reasoning: 'Because.',
  indicators: [],
  mitreTechniques: [],
  evidence: [],
  recommendedActions: [],
  ...more,
});

describe('the verdict of a run', () => {
  it.each([
    [{ classification: 'harmless' }, { classification: 'inconclusive' }],
    [{ classification: '__proto__' }, { classification: 'inconclusive' }],
    [{ confidence: Number.NaN }, { confidence: 0 }],
    [{ confidence: 7 }, { confidence: 1 }],
    [{ confidence: -1 }, { confidence: 0 }],
    [{ category: 'Bec; drop table' }, { category: 'unknown' }],
    [{ reasoning: 'a\0b\ud800' }, { reasoning: 'a\ufffdb\ufffd' }],
    [
      { mitreTechniques: ['T1566', 'T1566.002', 'x', 'T15'] },
      { mitre_techniques: ['T1566', 'T1566.002'] },
    ],
    [{ indicators: [{ type: '', value: 'x' }] }, { indicators: [] }],
    [{ indicators: [{ type: 'url', value: 'x'.repeat(2_049) }] }, { indicators: [] }],
    [
      { indicators: [{ type: 'url', value: 'x', found_in: '' }] },
      { indicators: [{ type: 'url', value: 'x' }] },
    ],
    [
      { evidence: [{ source: 'raw_data', pointer: `/${'x'.repeat(600)}`, value: 1 }] },
      { evidence: [] },
    ],
  ])('is of %j the documented %j', (given, expected) => {
    expect(runVerdict(proposed(given))).toMatchObject(expected);
  });

  it('has a limited size', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      type: 'url',
      value: `u${n}`.repeat(300),
    }));
    const verdict = runVerdict(proposed({ indicators: many, reasoning: 'x'.repeat(10_000_000) }));
    expect(JSON.stringify(verdict).length).toBeLessThan(200_000);
  });

  it('has every field, and evidence with every field, however long its lists are', () => {
    const long = 'x'.repeat(1_500);
    const given = {
      indicators: Array.from({ length: 300 }, () => ({ type: 'url', value: long })),
      evidence: Array.from({ length: 300 }, () => ({
        source: 'raw_data',
        pointer: '/a',
        value: long,
      })),
      mitreTechniques: Array.from({ length: 300 }, () => 'T1566'),
    };
    const verdict = runVerdict(proposed(given));
    expect(verdict.indicators.length).toBeGreaterThan(20);
    expect(verdict.evidence.length).toBeGreaterThan(20);
    expect(verdict.mitre_techniques).toHaveLength(200);
    for (const one of verdict.evidence) {
      expect(one).toEqual({ source: 'raw_data', pointer: '/a', value: long });
    }
  });
});

describe('the recommended actions of a run', () => {
  it('are known types without repetitions', () => {
    const names = ['block_ip', 'rm -rf /', 'block_ip', 'toString', '__proto__', 'scan_host'];
    expect(knownActions(proposed({ recommendedActions: names }))).toEqual([
      'block_ip',
      'scan_host',
    ]);
  });
});
