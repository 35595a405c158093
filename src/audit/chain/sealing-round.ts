import type { ChainEnd, Cursor, Progress } from './chain-head.js';

/** Comes before every row. */
export const BEFORE_ALL: Cursor = { xid: '0', id: '00000000-0000-0000-0000-000000000000' };

/** One round of sealing: the rows that the snapshot `to` sees and `from` does not, page after page. */
export interface SealingRound {
  readonly cluster: string;
  readonly from: string | null;
  readonly to: string;
  readonly after: Cursor;
  /** The head has to be written even if there is nothing left to seal: it does not show the result of this round yet. */
  readonly unfinished: boolean;
}

/** Continues the present round, or begins one that reaches up to now. */
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

/** The progress after a page. `last` is the last row of the page; undefined when the round is over. */
export function progressAfter(round: SealingRound, last: Cursor | undefined): Progress {
  const { cluster, from, to } = round;
  return last
    ? { cluster, sealedTo: from, sealingTo: to, after: { xid: last.xid, id: last.id } }
    : { cluster, sealedTo: to, sealingTo: null, after: null };
}
