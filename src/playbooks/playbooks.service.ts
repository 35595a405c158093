// SQL: one statement stores a playbook and its version.
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource, IsNull } from 'typeorm';
import { SYSTEM } from '../actions/action.js';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { requireVersion } from '../audit/changes/version-history.js';
import { type Principal, requireRole } from '../auth/principal.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import type { IfMatchCondition } from '../platform/http/etag.js';
import { isUuid, newId } from '../platform/ids.js';
import { findOrder, findPage, type Page } from '../platform/paging/page.js';
import { checkPlaybook } from './language/check-playbook.js';
import {
  changedFields,
  DEFAULT_DEFINITION,
  definitionAfter,
  isForManagers,
  onlyStops,
  type PlaybookDefinition,
  PlaybookEntity,
  type PlaybookVersion,
  PlaybookVersionEntity,
  revisionOf,
} from './playbook.js';
import {
  PLAYBOOK_NAME,
  type PlaybookInputDto,
  type PlaybookQueryDto,
  type PlaybookUpdateDto,
  type PlaybookVersionsQueryDto,
} from './playbook.dto.js';
import malwareContainment from './shipped/malware-containment.json';
import phishingResponse from './shipped/phishing-response.json';
import suspiciousLogin from './shipped/suspicious-login.json';

/** Their texts for people never insert raw text of the incident: attackers may write mentions and links. */
export const SHIPPED_PLAYBOOKS = [
  phishingResponse,
  malwareContainment,
  suspiciousLogin,
] as readonly Pick<PlaybookVersion, 'name' | 'definition'>[];

const NOT_DELETED = { deleted_at: IsNull() };

/** SQL: principal who set the flag: the author of the new version, or the earlier principal if it was already set. */
const setBy = (flag: string) =>
  `case when stored.definition ->> '${flag}' = 'true' then coalesce(before.${flag}_by, stored.updated_by) end`;

const STORE: Statement = {
  name: 'playbooks_store',
  text: `
    with stored as (
      insert into playbooks (id, name, enabled, auto_run, definition, created_by, updated_by)
      values ($1, $2, ($3::json ->> 'enabled')::boolean, ($3::json ->> 'auto_run')::boolean, $3, $4, $4)
      on conflict (id) do update
         set name = excluded.name, enabled = excluded.enabled, auto_run = excluded.auto_run, version = playbooks.version + 1,
             definition = excluded.definition, updated_by = excluded.updated_by, updated_at = now()
      returning *),
    kept as (
      insert into playbook_versions (
        playbook_id, version, name, definition, changed_by, changed_at, auto_run_by, trust_verdict_by)
      select stored.id, stored.version, stored.name, stored.definition, stored.updated_by, stored.updated_at,
             ${setBy('auto_run')}, ${setBy('trust_verdict')}
        from stored left join playbook_versions before
          on before.playbook_id = stored.id and before.version = stored.version - 1)
    select * from stored`,
};

@Injectable()
export class PlaybooksService implements OnApplicationBootstrap {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
  ) {}

  /** Creates the shipped playbooks if no playbook ever existed. Later releases do not change playbooks. */
  async onApplicationBootstrap(): Promise<void> {
    const creation = this.transactions.run(async (tx) => {
      if (await tx.getRepository(PlaybookEntity).exists()) return;
      for (const { name, definition } of SHIPPED_PLAYBOOKS) {
        await this.store(tx, 'playbook.created', { id: newId(), name, definition }, SYSTEM);
      }
    });
    await creation.catch((error: unknown) => {
      const isByOtherReplica = error instanceof AppError && error.code === 'conflict';
      if (!isByOtherReplica) throw error;
    });
  }

  async list({ sort, ...query }: PlaybookQueryDto): Promise<Page<PlaybookEntity>> {
    const { name, enabled, auto_run } = query;
    const filters = Object.entries({ name, enabled, auto_run });
    const given = Object.fromEntries(filters.filter(([, value]) => value !== undefined));
    return await findPage(this.dataSource.getRepository(PlaybookEntity), query, {
      where: { ...given, ...NOT_DELETED },
      order: findOrder(sort, { created_at: 'created_at', name: 'name' }, 'id'),
    });
  }

  /** Returns the playbook, even if it is disabled, but not if it is deleted. Locks the playbook if `tx` is given. */
  async get(nameOrId: string, tx?: Tx): Promise<PlaybookEntity> {
    return found(await this.find(nameOrId, tx, true));
  }

  async findEnabled(nameOrId: string, tx?: Tx): Promise<PlaybookEntity | undefined> {
    const playbook = await this.find(nameOrId, tx);
    return playbook?.enabled ? playbook : undefined;
  }

  /** Returns the id. A deleted playbook is found only by its id, because another playbook may have its name. */
  async idOf(nameOrId: string): Promise<string> {
    if (!isUuid(nameOrId)) return (await this.get(nameOrId)).id;
    const exists = await this.dataSource.getRepository(PlaybookEntity).existsBy({ id: nameOrId });
    return found(exists ? nameOrId : null);
  }

  async versions(
    nameOrId: string,
    query: PlaybookVersionsQueryDto,
  ): Promise<Page<PlaybookVersionEntity>> {
    return await findPage(this.dataSource.getRepository(PlaybookVersionEntity), query, {
      where: { id: await this.idOf(nameOrId) },
      order: { version: query.sort === 'version' ? 'asc' : 'desc' },
    });
  }

  /** Locks and returns the enabled `auto_run` playbooks, so that two transactions cannot give the same turn twice. */
  async autoRuns(tx: Tx): Promise<PlaybookEntity[]> {
    const where = { auto_run: true, enabled: true, ...NOT_DELETED };
    const lock = { mode: 'for_no_key_update' } as const;
    return await tx.getRepository(PlaybookEntity).find({ where, order: { id: 'asc' }, lock });
  }

  check(wanted: PlaybookInputDto): void {
    requireValid(definitionAfter(DEFAULT_DEFINITION, wanted));
  }

  async create(
    caller: Principal,
    wanted: PlaybookInputDto,
    idempotency: Participant<PlaybookEntity>,
  ): Promise<PlaybookEntity> {
    const { name } = wanted;
    const definition = definitionAfter(DEFAULT_DEFINITION, wanted);
    const create = async (tx: Tx): Promise<PlaybookEntity> => {
      if (isForManagers(undefined, { name, definition })) requireRole(caller, 'manager');
      requireValid(definition);
      const playbook = { id: newId(), name, definition };
      return await this.store(tx, 'playbook.created', playbook, caller.name);
    };
    return await this.transactions.run(create, caller, idempotency);
  }

  async update(
    caller: Principal,
    nameOrId: string,
    change: PlaybookUpdateDto,
    condition: IfMatchCondition,
  ): Promise<PlaybookEntity> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    return await this.transactions.run<PlaybookEntity>(async (tx) => {
      const before = await this.get(nameOrId, tx);
      const { id, name } = before;
      const definition = definitionAfter(before.definition, change);
      const after = { id, name: change.name ?? name, definition };
      if (isForManagers(before, after)) requireRole(caller, 'manager');
      // A definition from a backup may be invalid under the current settings, but it must be possible to stop the playbook.
      if (!onlyStops(before, after)) requireValid(definition);
      await this.requireMatch(tx, before, condition);
      const fields = changedFields(before, after);
      if (fields.length === 0) return before;
      const details = { fields, name_before: fields.includes('name') ? name : undefined };
      return await this.store(tx, 'playbook.updated', after, caller.name, details);
    }, caller);
  }

  /** Deletes the playbook and returns its id. Its runs continue with their version. */
  async delete(caller: Principal, nameOrId: string, condition: IfMatchCondition): Promise<string> {
    return await this.transactions.run(async (tx) => {
      const playbook = await this.get(nameOrId, tx);
      const { id } = playbook;
      await this.requireMatch(tx, playbook, condition);
      await tx.getRepository(PlaybookEntity).update(id, { deleted_at: () => 'now()' });
      await this.record(tx, 'playbook.deleted', playbook, caller.name);
      return id;
    }, caller);
  }

  private async find(nameOrId: string, tx?: Tx, locks = false): Promise<PlaybookEntity | null> {
    if (!isUuid(nameOrId) && !PLAYBOOK_NAME.test(nameOrId)) return null;
    return await (tx ?? this.dataSource).getRepository(PlaybookEntity).findOne({
      where: { ...(isUuid(nameOrId) ? { id: nameOrId } : { name: nameOrId }), ...NOT_DELETED },
      lock: tx && locks ? { mode: 'pessimistic_write' } : undefined,
    });
  }

  private async store(
    tx: Tx,
    action: AuditAction,
    { id, name, definition }: Omit<PlaybookVersion, 'version'>,
    by: string,
    details?: object,
  ): Promise<PlaybookEntity> {
    const values = [id, name, JSON.stringify(definition), by];
    const taken = () => new AppError('conflict', `A playbook named ${name} already exists.`);
    const [stored] = await mapConstraints({ uq_playbooks_name: taken }, () =>
      this.statements.rowsIn<PlaybookEntity>(tx, STORE, values),
    );
    await this.record(tx, action, stored!, by, details);
    return stored!;
  }

  private async requireMatch(
    tx: Tx,
    playbook: PlaybookEntity,
    condition: IfMatchCondition,
  ): Promise<void> {
    const { id, version, name, definition, updated_at: updatedAt } = playbook;
    const values = { name, ...definition };
    const current = { id, version, revision: revisionOf(playbook), updatedAt, values };
    await requireVersion(tx, condition, { type: 'playbook', ...current });
  }

  private async record(
    tx: Tx,
    action: AuditAction,
    { id, name, version, definition }: PlaybookVersion,
    actor: string,
    more: object = {},
  ): Promise<void> {
    const { enabled, auto_run, trust_verdict } = definition;
    const details = { name, version, enabled, auto_run, trust_verdict, ...more };
    await this.audit.record(tx, { actor, action, subject: { type: 'playbook', id }, details });
  }
}

function requireValid(definition: PlaybookDefinition): void {
  const errors = checkPlaybook(definition);
  if (errors.length > 0) throw new ValidationError(errors);
}

function found<T>(playbook: T | null): T {
  if (playbook === null) throw new NotFoundError('Playbook');
  return playbook;
}
