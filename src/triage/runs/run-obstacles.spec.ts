import { Clock } from '../../platform/clock.js';
import { ModelUnavailableError } from '../model/model.errors.js';
import { NoModel } from '../model/no-model.js';
import { RulesModel } from '../model/rules/rules-model.js';
import type { TriageModel } from '../model/triage-model.port.js';
import { RunObstacles, type TokenBudget } from './run-obstacles.js';

const START = new Date('2026-01-31T09:00:00Z');

class SetClock extends Clock {
  at = START;
  override now = (): Date => this.at;
  pass(minutes: number): void {
    this.at = new Date(this.at.getTime() + minutes * 60_000);
  }
}

const failed = (extras: Partial<ModelUnavailableError['extras']>) =>
  new ModelUnavailableError('authentication', 'No.', { mayHelpLater: true, ...extras });
const SHORTAGE = new ModelUnavailableError('token_budget', 'Used up.', {
  mayHelpLater: true,
  retryAfterMs: 60_000,
});

function made(model: TriageModel = new RulesModel()) {
  const clock = new SetClock();
  const budget: { shortage: ModelUnavailableError | undefined; asked: number } = {
    shortage: undefined,
    asked: 0,
  };
  const shortage = async () => {
    budget.asked += 1;
    return budget.shortage;
  };
  const obstacles = new RunObstacles(model, { shortage } as TokenBudget, clock);
  /** As the queue does: it lets go on what need not wait any more. */
  const over = async () => {
    const reasons = await obstacles.over();
    obstacles.wentOn(reasons);
    return reasons;
  };
  return { obstacles, over, clock, budget };
}

describe('what keeps runs from being begun', () => {
  it('is a fault that an operator has to mend, for five minutes, and then one run tries', async () => {
    const { obstacles, clock } = made();
    expect(obstacles.isTrying).toBe(false);
    const error = failed({ needsOperator: true });
    obstacles.met(error);
    const until = new Date(START.getTime() + 300_000);
    expect(await obstacles.now()).toEqual({ error, until, isFault: true });
    clock.pass(5);
    expect(await obstacles.now()).toBeUndefined();
    expect(obstacles.isTrying).toBe(true);
    obstacles.met(error);
    expect(await obstacles.now()).toMatchObject({ isFault: true });
  });

  it('is over when the provider answers, also with what is no verdict on the incident', async () => {
    for (const answer of ['verdict', 'refusal'] as const) {
      const { obstacles, over } = made();
      await over();
      obstacles.met(failed({ needsOperator: true }));
      if (answer === 'verdict') obstacles.answered();
      else obstacles.met(failed({ mayHelpLater: false }));
      expect(obstacles.isTrying).toBe(false);
      expect(await obstacles.now()).toBeUndefined();
      expect(await over()).toContain('authentication');
      expect(await over()).toEqual([]);
    }
  });

  it('is not what passes by itself, and that does not end a fault', async () => {
    const { obstacles } = made();
    obstacles.met(failed({}));
    expect(await obstacles.now()).toBeUndefined();
    obstacles.met(failed({ needsOperator: true }));
    obstacles.met(failed({}));
    expect(obstacles.isTrying).toBe(true);
  });

  it('is a budget that is used up, until there are tokens again', async () => {
    const { obstacles, over, budget } = made();
    await over();
    budget.shortage = SHORTAGE;
    const until = new Date(START.getTime() + 60_000);
    expect(await obstacles.now()).toEqual({ error: SHORTAGE, until, isFault: false });
    expect(await over()).toEqual([]);
    budget.shortage = undefined;
    expect(await over()).toEqual(['token_budget']);
    expect(await over()).toEqual([]);
  });

  it('is over for nobody where there is no provider, and nobody looks at a budget', async () => {
    const { over, clock, budget } = made(new NoModel());
    clock.pass(100_000);
    expect(await over()).toEqual([]);
    expect(budget.asked).toBe(0);
  });

  it('is told as over until the runs have gone on', async () => {
    const { obstacles } = made();
    const reasons = await obstacles.over();
    // The database was away.
    expect(await obstacles.over()).toBe(reasons);
    obstacles.wentOn(reasons);
    expect(await obstacles.over()).toEqual([]);
  });

  it('may be over after a start with other settings, but not a pause that the provider asked for', async () => {
    const reasons = await made().over();
    expect(reasons).toEqual(
      expect.arrayContaining(['not_configured', 'authentication', 'token_budget']),
    );
    expect(reasons).not.toContain('rate_limited');
  });

  it('is no pause any more that the provider asked for, once it has answered somebody', () => {
    const { obstacles } = made();
    const goOn = () => {
      const { rested } = obstacles;
      obstacles.wentOn(rested);
      return rested;
    };
    expect(goOn()).toEqual([]);
    // A pause of before the start is not known here.
    obstacles.answered();
    expect(obstacles.rested).toEqual(['rate_limited', 'overloaded']);
    expect(goOn()).toEqual(['rate_limited', 'overloaded']);
    obstacles.answered();
    expect(goOn()).toEqual([]);
    obstacles.met(new ModelUnavailableError('overloaded', 'No.', { mayHelpLater: true }));
    expect(goOn()).toEqual([]);
    obstacles.answered();
    expect(goOn()).toEqual(['rate_limited', 'overloaded']);
  });
});
