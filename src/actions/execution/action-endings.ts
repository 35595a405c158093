import { Injectable } from '@nestjs/common';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import type { Action } from '../action.js';
import { type ActionChanged, ActionRecorder } from '../records/action-recorder.js';
import { ActionEndingsRepository, type Ending, statusOf } from './action-endings.repository.js';

/**
 * Ends actions, and records it: each unless its run lost its claim, which its fence says. Endings that come together are one
 * statement, which is a transaction of its own.
 */
@Injectable()
export class ActionEndings {
  private readonly batches = new Batcher<Ending, Action | undefined>((endings) =>
    this.endTogether(endings),
  );

  constructor(
    private readonly repository: ActionEndingsRepository,
    private readonly recorder: ActionRecorder,
  ) {}

  /** The action as it has ended; undefined when its run did not count any more. */
  async end(ending: Ending): Promise<Action | undefined> {
    return await this.batches.submit(ending);
  }

  /** The same in a transaction in which others take part. */
  async endIn(tx: Tx, ending: Ending): Promise<Action | undefined> {
    const records = this.recorder.recordsOf([endOf(ending)]);
    const [ended] = await this.repository.endIn(tx, [ending], records);
    if (ended) afterCommit(tx, () => this.recorder.recorded(records, [endOf(ending)]));
    return ended;
  }

  private async endTogether(endings: readonly Ending[]): Promise<(Action | undefined)[]> {
    const latest = latestOf(endings);
    const records = this.recorder.recordsOf(latest.map(endOf));
    const ended = new Map(
      (await this.repository.end(latest, records)).map((action) => [action.id, action]),
    );
    const done = latest.filter(({ action }) => ended.has(action.id));
    this.recorder.recorded(records, done.map(endOf));
    return endings.map((ending) =>
      done.includes(ending) ? ended.get(ending.action.id) : undefined,
    );
  }
}

/** One of each action: where a later run is known, an earlier one does not count any more. */
export function latestOf(endings: readonly Ending[]): Ending[] {
  const latest = new Map<string, Ending>();
  for (const ending of endings) {
    const { id, fence } = ending.action;
    const other = latest.get(id);
    if (!other || other.action.fence < fence) latest.set(id, ending);
  }
  return [...latest.values()];
}

/** What is recorded: the action as it is when it has ended. */
function endOf({ action, result, by, at }: Ending): ActionChanged {
  const status = statusOf(result);
  const ended = { ...action, status, result, executedBy: by, executedAt: at };
  return { change: status, actor: by, action: ended };
}
