import { type Principal } from './principal.js';
import { type ApprovalLevel, approvalLevelOf, levelReaches } from '../platform/access/roles.js';
import { AppError } from '../platform/errors/app-error.js';

export class InsufficientApprovalLevelError extends AppError {
  constructor(
    readonly required: ApprovalLevel,
    own: ApprovalLevel,
  ) {
    super(
      'insufficient_approval_level',
      `This needs approval level ${required}; yours is ${own}.`,
      { fields: { required_level: required, your_level: own } },
    );
  }
}

export function requireApprovalLevel(
  caller: Pick<Principal, 'role'>,
  required: ApprovalLevel,
): void {
  const own = approvalLevelOf(caller.role);
  if (!levelReaches(own, required)) throw new InsufficientApprovalLevelError(required, own);
}

/** Where four eyes are wanted: a person with a user and with keys of their own has one pair. */
export class OwnRequestError extends AppError {
  constructor() {
    super('forbidden', 'Nobody may approve what they requested themselves.');
  }
}
