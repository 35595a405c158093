import type { ChainEnd, Cursor, Progress } from './chain-head.js';

/** The first row comes after this one. */
export const BEFORE_ALL: Cursor = { xid: '0', id: '00000000-0000-0000-0000-000000000000' };

/** What one round seals: the rows that `to` sees and `from` does not, in pages, each after the last. */
export interface SealingRound {
  readonly cluster: string;
  readonly from: string | null;
  readonly to: string;
  readonly after: Cursor;
  /** The head does not say yet what this round found out, were it only that there is nothing. */
  readonly unfinished: boolean;
}

/** Goes on with the round under way, or begins one that reaches to the present. */
export function roundAt({ head, now, restored }: ChainEnd): SealingRound {
  const { cluster, snapshot } = now;
  if (!head || restored) {
    return { cluster, from: null, to: snapshot, after: BEFORE_ALL, unfinished: restored };
  }
  if (head.sealingTo === null) {
    return { cluster, from: head.sealedTo, to: snapshot, after: BEFORE_ALL, unfinished: false };
  }
  return {
    cluster,
    from: head.sealedTo,
    to: head.sealingTo,
    after: head.after ?? BEFORE_ALL,
    unfinished: true,
  };
}

/** Where things stand after a page: `last` is its last row, absent when the round is over. */
export function progressAfter(round: SealingRound, last: Cursor | undefined): Progress {
  const { cluster, from, to } = round;
  return last
    ? { cluster, sealedTo: from, sealingTo: to, after: { xid: last.xid, id: last.id } }
    : { cluster, sealedTo: to, sealingTo: null, after: null };
}
