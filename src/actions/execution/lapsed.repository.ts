import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../catalogue/action-types.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Action } from '../action.js';
import { ACTION_COLUMNS, actionOf, type ActionRow } from '../records/action-rows.js';

/** What a search for waiting actions leaves out. */
export interface LeftOut {
  readonly ids: readonly string[];
  readonly types: readonly ActionTypeName[];
}

const CLAIMS: Statement = {
  name: 'actions_lapsed_claims',
  text: `
    select ${ACTION_COLUMNS} from actions
     where actions.status = 'pending' and actions.phase is not null and actions.lease_until < now()
     order by actions.lease_until limit $1`,
};

const WAITING: Statement = {
  name: 'actions_waiting',
  text: `
    select ${ACTION_COLUMNS} from actions
     where actions.status = 'pending' and actions.phase is null and actions.lease_until < now()
       and actions.id <> all($2::uuid[]) and actions.action_type <> all($3::text[])
     order by actions.lease_until limit $1`,
};

/** Pending actions that nobody looks after, whoever has waited longest first. */
@Injectable()
export class LapsedRepository {
  constructor(private readonly statements: Statements) {}

  /** Claims of runs that did not renew their lease. */
  async claims(limit: number): Promise<Action[]> {
    return (await this.statements.rows<ActionRow>(CLAIMS, [limit])).map(actionOf);
  }

  /** Actions that may begin and that nobody has claimed. */
  async waiting(limit: number, { ids, types }: LeftOut): Promise<Action[]> {
    return (await this.statements.rows<ActionRow>(WAITING, [limit, ids, types])).map(actionOf);
  }
}
