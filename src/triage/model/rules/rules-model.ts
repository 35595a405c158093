import { LoopTurns } from '../../../platform/concurrency/semaphore.js';
import { type Judgement, type TriageCase, TriageModel } from '../triage-model.port.js';
import { Facts } from './facts.js';
import { RULES_HASH } from './rule-table.js';
import { findingsInPieces, pointsOf } from './score.js';
import { verdictOn } from './verdict.js';

/**
 * A scorer for sites that no model reaches: each rule that holds gives its points, and all of them are told. It asks nothing,
 * sends nothing, and gives the same verdict on the same event for ever.
 */
export class RulesModel extends TriageModel {
  readonly provider = 'rules';
  readonly configuredModel = 'rules';
  readonly asksOutside = false;
  override readonly usesTools = false;
  private readonly turns = new LoopTurns();

  async judge(given: TriageCase): Promise<Judgement> {
    const facts = await this.turns.runInPieces(Facts.inPieces(given.rawData, given));
    const findings = await this.turns.runInPieces(findingsInPieces(facts));
    return {
      verdict: verdictOn(findings, facts, given),
      model: this.configuredModel,
      promptHash: RULES_HASH,
      tokens: { input: 0, output: 0 },
      toolCalls: [],
      points: pointsOf(findings),
    };
  }
}
