/** PostgreSQL's error codes that the service knows by name. */
export const SQLSTATE = {
  uniqueViolation: '23505',
  foreignKeyViolation: '23503',
  checkViolation: '23514',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  readOnlyTransaction: '25006',
  diskFull: '53100',
  tooManyConnections: '53300',
  restrictViolation: '23001',
} as const;

interface PostgresFailure {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly message?: unknown;
  readonly driverError?: unknown;
}

function failure(error: unknown): PostgresFailure {
  if (typeof error !== 'object' || error === null) return {};
  const { driverError } = error as PostgresFailure;
  return typeof driverError === 'object' && driverError !== null ? driverError : error;
}

export function sqlStateOf(error: unknown): string | undefined {
  const { code } = failure(error);
  return typeof code === 'string' ? code : undefined;
}

/** The name of the constraint that refused a row; constraints are named in the entities and migrations. */
export function violatedConstraint(error: unknown): string | undefined {
  const { constraint } = failure(error);
  return typeof constraint === 'string' ? constraint : undefined;
}

/** Runs `work` and turns the violation of one of the named constraints into the error that it means. */
export async function mapConstraints<T>(
  meanings: Readonly<Record<string, () => Error>>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const meaning = meanings[violatedConstraint(error) ?? ''];
    throw meaning ? meaning() : error;
  }
}

/** Whether the transaction lost a race against another one, so that it may simply be run again. */
export function isLostRace(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === SQLSTATE.serializationFailure || code === SQLSTATE.deadlockDetected;
}

/** The connection of a transaction broke between two of its statements, and the transaction with it. */
export class ConnectionLostError extends Error {}

const CONNECTION_CODES = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** node-pg raises these without a code. */
const CONNECTION_MESSAGES =
  /Connection terminated|not queryable|timeout exceeded when trying to connect|Query read timeout|Driver not Connected|Cannot use a pool after calling end|connection is closed/i;

/** Connection exceptions, a server that stops or starts, a session that timed out, and a read-only standby. */
const CONNECTION_STATES = /^(08|57P|25P0[34]|25006)/;

/**
 * Whether the connection cannot be used any more: the server is gone, hangs, is starting or stopping, or became a read-only
 * standby in a failover. When a COMMIT ends with such an error, nobody knows whether it took effect.
 */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionLostError) return true;
  const { code, message } = failure(error);
  if (typeof code === 'string') {
    return CONNECTION_CODES.has(code) || CONNECTION_STATES.test(code);
  }
  return typeof message === 'string' && CONNECTION_MESSAGES.test(message);
}

/** Whether the caller should try again later, because nothing is wrong with the request. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = sqlStateOf(error);
  return (
    isConnectionLost(error) ||
    isLostRace(error) ||
    code === SQLSTATE.lockNotAvailable ||
    code === SQLSTATE.queryCanceled ||
    (code !== undefined && /^53/.test(code))
  );
}
