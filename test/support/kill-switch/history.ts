/** What happened to a kill switch and to those who asked it, as one process saw it on its monotonic clock. */
export interface ClaimRecord {
  readonly kind: 'claim';
  readonly replica: number;
  /** When the commit of the claim was asked for. */
  readonly committing: number;
  /** When its first request left; absent when it gave itself up. */
  readonly sent?: number;
}

export interface ActivationRecord {
  readonly kind: 'activation';
  readonly asked: number;
  readonly committed: number;
  readonly answered: number;
}

export interface DeactivationRecord {
  readonly kind: 'deactivation';
  readonly asked: number;
}

export type HistoryRecord = ClaimRecord | ActivationRecord | DeactivationRecord;

export interface Violation {
  readonly rule: 'sent while on' | 'claimed while on';
  readonly at: number;
  readonly activation: ActivationRecord;
}

/**
 * The rules, in real time: nothing is sent after an activation was answered and before the next deactivation is asked
 * for; and no claim begins its commit after an activation has committed.
 */
export function violationsIn(history: readonly HistoryRecord[]): Violation[] {
  const deactivations = history.filter((one) => one.kind === 'deactivation');
  const claims = history.filter((one) => one.kind === 'claim');
  return history.flatMap((activation) => {
    if (activation.kind !== 'activation') return [];
    const until = Math.min(
      ...deactivations.map(({ asked }) => asked).filter((asked) => asked > activation.asked),
    );
    return claims.flatMap(({ committing, sent }): Violation[] => [
      ...(sent !== undefined && sent > activation.answered && sent < until
        ? [{ rule: 'sent while on', at: sent, activation } as const]
        : []),
      ...(committing > activation.committed && committing < until
        ? [{ rule: 'claimed while on', at: committing, activation } as const]
        : []),
    ]);
  });
}
