export const SQLSTATE = {
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  readOnlyTransaction: '25006',
  diskFull: '53100',
  tooManyConnections: '53300',
  invalidText: '22P02',
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

export function violatedConstraint(error: unknown): string | undefined {
  const { constraint } = failure(error);
  return typeof constraint === 'string' ? constraint : undefined;
}

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

export function isLostRace(error: unknown): boolean {
  const code = sqlStateOf(error);
  return code === SQLSTATE.serializationFailure || code === SQLSTATE.deadlockDetected;
}

/** The connection broke between two statements of a transaction, so the transaction is lost. */
export class ConnectionLostError extends Error {}

/** System errors, connection exceptions, servers that start or stop, session timeouts, and read-only standbys. */
const CONNECTION_CODES = /^(E(?!RR_)[A-Z_]+|08...|57P..|25P0[34]|25006)$/;

const CONNECTION_MESSAGES =
  /Connection terminated|not queryable|timeout exceeded when trying to connect|Query read timeout|Driver not Connected|Cannot use a pool after calling end|connection is closed/i;

/** True if the server is gone, hangs, starts, stops or is read-only. The outcome of a COMMIT is then unknown. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionLostError) return true;
  const { code, message } = failure(error);
  if (typeof code === 'string') return CONNECTION_CODES.test(code);
  return typeof message === 'string' && CONNECTION_MESSAGES.test(message);
}

/** Codes for insufficient resources, for a lock that was not available, and for a statement that took too long. */
const OVERLOAD_STATES = /^(53...|55P03|57014)$/;

/** Returns true if the caller should retry later, because the request itself is valid. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return (
    isConnectionLost(error) || isLostRace(error) || OVERLOAD_STATES.test(sqlStateOf(error) ?? '')
  );
}
