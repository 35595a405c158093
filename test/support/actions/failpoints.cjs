/** Points of an execution, in their order. A crash at each point leaves a different state. */
const FAILPOINT = {
  /**
   * The work of actions is ready, and no worker has claimed it. (A request or an approval claims its action in its own
   * transaction.)
   */
  unclaimed: 1,
  /** The action is claimed, and nothing was sent. */
  claimed: 2,
  /** It is noted that a request will be sent, and no request was sent. */
  sending: 3,
  /** The connector has returned an outcome, which is not stored yet. */
  answered: 4,
  /** The vendor has accepted the action, and the acceptance is stored. */
  vendorAccepted: 5,
  /** The outcome is written, and the transaction has not committed. */
  finishing: 6,
  /** The outcome is committed, and the caller has no response. */
  finished: 7,
  /** A worker is about to renew a lease. */
  renewing: 8,
};
/** Any other operation of a worker. */
const ELSEWHERE = -1;

const isAction = ({ kind }) => kind === 'action';

/**
 * Calls `hit` at each point of an execution.
 *
 * @param parts the parts of one replica, or their prototypes: of the repository and the worker of work, and of ActionWork,
 * ConnectorCalls and ActionEndings
 */
function watchExecution({ repository, worker, work, calls, endings }, hit) {
  const watch = (part, method, { before = () => undefined, after = () => undefined }) => {
    const original = part[method];
    part[method] = async function watched(...args) {
      const first = before(...args);
      if (first !== undefined) await hit(first);
      const result = await original.apply(this, args);
      const last = after(...args);
      if (last !== undefined) await hit(last);
      return result;
    };
  };
  const only = (claims, point) => (claims.some(isAction) ? point : ELSEWHERE);
  const laneOf = ({ lane }) => ({ kind: lane.split('.')[0] });
  watch(repository, 'look', { before: () => ELSEWHERE });
  watch(repository, 'claimIn', {
    before: (_tx, _worker, requests) => only(requests.map(laneOf), FAILPOINT.unclaimed),
  });
  const rowOf = ({ row }) => row;
  /* A note also renews the lease. */
  const isNote = (claims) => claims.some(({ state }) => state);
  watch(repository, 'renew', {
    before: (_, claims) =>
      isNote(claims) ? undefined : only(claims.map(rowOf), FAILPOINT.renewing),
    after: (_, claims) => (isNote(claims) ? only(claims.map(rowOf), FAILPOINT.sending) : undefined),
  });
  watch(repository, 'end', { before: () => ELSEWHERE });
  watch(work, 'attempt', { before: () => FAILPOINT.claimed });
  watch(calls, 'execute', { after: () => FAILPOINT.answered });
  watch(endings, 'endAll', { after: () => FAILPOINT.finishing });
  watch(worker, 'end', {
    after: ({ row }, _, { again }) => {
      if (!isAction(row)) return undefined;
      if (!again) return FAILPOINT.finished;
      return again.state?.accepted && FAILPOINT.vendorAccepted;
    },
  });
}

module.exports = { FAILPOINT, watchExecution };
