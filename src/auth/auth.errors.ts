import type { AuditAction } from '../audit/audit-actions.js';
import type { AuditSubject } from '../audit/audit-entry.js';
import { type ApprovalLevel, type Role, ROLES } from '../platform/access/roles.js';
import { AppError, type ErrorExtras } from '../platform/errors/app-error.js';
import type { Principal } from './principal.js';

/** One error for every reason: whoever guesses does not learn how far the guess came. */
export class UnauthorizedError extends AppError {
  constructor(message = 'A valid API key or session is required.') {
    super('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } });
  }
}

export class TooManyFailuresError extends AppError {
  constructor(what: string, retryAfterSeconds: number) {
    super('rate_limited', `Too many ${what} from this address; try again later.`, {
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
}

/** What the audit trail says of somebody who is not known, beside the network. */
export interface StrangerRefusal {
  readonly action: AuditAction;
  /** What was tried, where that is one of a limited number of things; else the subject is the network. */
  readonly subject?: AuditSubject;
  /** Refusals with another `reason` are counted apart. */
  readonly details?: { readonly reason: string };
}

/** RefusalFilter writes it into the audit trail, and answers as `told` would. */
export abstract class StrangerRefusedError extends AppError {
  protected constructor(
    readonly refusal: StrangerRefusal,
    told: AppError,
  ) {
    super(told.code, told.message, told.extras);
  }
}

/** A key or token that is nobody's. */
export class UnknownKeyError extends StrangerRefusedError {
  constructor(told: UnauthorizedError | TooManyFailuresError) {
    super({ action: 'auth.key_refused' }, told);
  }
}

/** The same for a user name that nobody has, and for the current password of somebody who is logged in. */
export class AccountThrottledError extends AppError {
  constructor(retryAfterSeconds: number) {
    super(
      'rate_limited',
      'Too many wrong passwords for this user from new addresses; try again later, or from an address that it logged in from before.',
      { headers: { 'retry-after': String(retryAfterSeconds) } },
    );
  }
}

/** @param why the rest of a sentence that begins with the name of the field */
export class WeakPasswordError extends AppError {
  constructor(field: string, why: string) {
    const message = `${field} ${why}.`;
    super('weak_password', message, {
      details: { errors: [{ field, code: 'weak_password', message }] },
    });
  }
}

export class InvalidCredentialsError extends AppError {
  constructor(message = 'The user name or the password is wrong.') {
    super('invalid_credentials', message);
  }
}

/** Somebody who is logged in gave no user name, so that the message speaks of the password alone. */
export class WrongCurrentPasswordError extends InvalidCredentialsError {
  constructor() {
    super('The current password is wrong.');
  }
}

const FROM_ANOTHER_SITE =
  'The request comes from another site, or does not tell that it comes from this one.';

/** A page of another site would log its visitor in or out. */
export class CrossOriginError extends AppError {
  constructor() {
    super('forbidden', FROM_ANOTHER_SITE);
  }
}

/** What the audit trail says of a caller who was refused, beside the route and the address. */
export interface CallerRefusal {
  readonly action: AuditAction;
  readonly actor: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Somebody who is known may not do this. RefusalFilter writes it into the audit trail, wherever it was thrown. */
export abstract class CallerRefusedError extends AppError {
  protected constructor(
    readonly refusal: CallerRefusal,
    code: AppError['code'],
    message: string,
    extras?: ErrorExtras,
  ) {
    super(code, message, extras);
  }
}

/** `an analyst, a senior, a manager or an admin` */
function inWords(roles: readonly Role[]): string {
  const named = roles.map((role) => `${role.startsWith('a') ? 'an' : 'a'} ${role}`);
  return named.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

export class RoleTooLowError extends CallerRefusedError {
  constructor({ name, role }: Pick<Principal, 'name' | 'role'>, required: Role) {
    super(
      { action: 'auth.role_refused', actor: name, details: { role, required_role: required } },
      'forbidden',
      `Only ${inWords(ROLES.slice(ROLES.indexOf(required)))} may do this.`,
      { details: { required_role: required } },
    );
  }
}

export class InsufficientApprovalLevelError extends CallerRefusedError {
  constructor(
    { name, role }: Pick<Principal, 'name' | 'role'>,
    own: ApprovalLevel,
    required: ApprovalLevel,
  ) {
    super(
      { action: 'auth.level_refused', actor: name, details: { role, required_level: required } },
      'insufficient_approval_level',
      `This needs approval level ${required}; yours is ${own}.`,
      { fields: { required_level: required, your_level: own } },
    );
  }
}

/** Where four eyes are wanted: a user and the keys that the user made are one person, who has one pair of eyes. */
export class OwnRequestError extends CallerRefusedError {
  constructor({ name }: Pick<Principal, 'name'>) {
    super(
      { action: 'auth.own_request_refused', actor: name },
      'forbidden',
      'Nobody may approve what they requested themselves.',
    );
  }
}

/** A page of another site would act with the session of its visitor. */
export class CrossOriginSessionError extends CallerRefusedError {
  constructor(username: string) {
    super({ action: 'auth.cross_origin_refused', actor: username }, 'forbidden', FROM_ANOTHER_SITE);
  }
}
