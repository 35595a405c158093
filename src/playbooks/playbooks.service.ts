import { Injectable } from '@nestjs/common';
import { isUuid, newId } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import {
  changedFields,
  DEFAULT_DEFINITION,
  definitionAfter,
  type DefinitionChange,
  isForManagers,
  isNameOrId,
  isTriggeredBy,
  type KeptVersion,
  onlyStops,
  type Playbook,
  type PlaybookDefinition,
  PlaybookNameTakenError,
  PlaybookNotFoundError,
  type PlaybookVersion,
  revisionOf,
  TooManyPlaybooksError,
  type TriggeringIncident,
} from './playbook.js';
import {
  type PlaybookFilter,
  type PlaybookSort,
  PlaybooksRepository,
  type VersionSort,
} from './records/playbooks.repository.js';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { VersionHistory } from '../audit/changes/version-history.js';
import { requireRole } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { ValidationError } from '../platform/errors/app-error.js';
import type { IfMatchCondition } from '../platform/http/etag.js';
import { checkPlaybook } from './language/check-playbook.js';

/** What there is of playbooks, for callers and for other modules. */
@Injectable()
export class PlaybooksService {
  constructor(private readonly playbooks: PlaybooksRepository) {}

  list(
    request: PageRequest,
    filter: PlaybookFilter,
    sort: readonly PlaybookSort[],
  ): Promise<Page<Playbook>> {
    return this.playbooks.list(request, filter, sort);
  }

  async get(nameOrId: string): Promise<Playbook> {
    const found = await this.find(nameOrId);
    if (!found) throw new PlaybookNotFoundError();
    return found;
  }

  /** A disabled one, too; undefined when there is none or it was deleted. */
  async find(nameOrId: string): Promise<Playbook | undefined> {
    return isNameOrId(nameOrId) ? await this.playbooks.find(nameOrId) : undefined;
  }

  async findEnabled(nameOrId: string): Promise<Playbook | undefined> {
    const found = await this.find(nameOrId);
    return found?.definition.enabled ? found : undefined;
  }

  /** What a run goes by, whatever became of the playbook since. */
  async versionOf(id: string, version: number): Promise<PlaybookVersion | undefined> {
    return await this.playbooks.findVersion(id, version);
  }

  /** Those who have asked for what an automatic run of the version does. */
  async authorsOf(id: string, version: number): Promise<readonly string[]> {
    return await this.playbooks.authorsOf(id, version);
  }

  /** Of a deleted playbook by its id alone, because its name may be that of another one now. */
  async versions(
    nameOrId: string,
    request: PageRequest,
    sort: VersionSort,
  ): Promise<Page<KeptVersion>> {
    const id = isUuid(nameOrId) ? nameOrId : (await this.get(nameOrId)).id;
    const page = await this.playbooks.versions(id, request, sort);
    if (page.total === 0) throw new PlaybookNotFoundError();
    return page;
  }

  /** The enabled playbooks that run by themselves for such an incident, by name. */
  async autoRunsFor(tx: Tx, incident: TriggeringIncident): Promise<Playbook[]> {
    const all = await this.playbooks.autoRuns(tx);
    return all.filter(({ definition }) => isTriggeredBy(definition.triggers, incident));
  }
}

/** That are not deleted. Lists, and the search for those that run by themselves, read whole definitions. */
export const MOST_PLAYBOOKS = 1_000;

export type NewPlaybook = DefinitionChange & { readonly name: string };
export type PlaybookChange = DefinitionChange & { readonly name?: string };

/** What people do to playbooks. A change that changes something makes a new version. */
@Injectable()
export class PlaybookChanges {
  constructor(
    private readonly transactions: Transactions,
    private readonly playbooks: PlaybooksRepository,
    private readonly audit: AuditLog,
    private readonly history: VersionHistory,
  ) {}

  /** Throws what `create` would say of the content. */
  check(wanted: NewPlaybook): void {
    requireValid(definitionAfter(DEFAULT_DEFINITION, wanted));
  }

  async create(
    caller: Principal,
    wanted: NewPlaybook,
    idempotency: Participant<Playbook>,
  ): Promise<Playbook> {
    const { name } = wanted;
    const definition = definitionAfter(DEFAULT_DEFINITION, wanted);
    requireValid(definition);
    return await unlessTaken(name, () =>
      this.transactions.run<Playbook>(
        async (tx) => {
          if (isForManagers(undefined, { name, definition })) requireRole(caller, 'manager');
          if ((await this.playbooks.countAlone(tx)) >= MOST_PLAYBOOKS) {
            throw new TooManyPlaybooksError(MOST_PLAYBOOKS);
          }
          return await this.insert(tx, name, definition, caller.name);
        },
        caller,
        idempotency,
      ),
    );
  }

  async insert(
    tx: Tx,
    name: string,
    definition: PlaybookDefinition,
    by: string,
  ): Promise<Playbook> {
    const made = await this.playbooks.insert(tx, { id: newId(), name, definition }, by);
    await this.record(tx, by, 'playbook.created', made);
    return made;
  }

  async update(
    caller: Principal,
    nameOrId: string,
    change: PlaybookChange,
    condition: IfMatchCondition,
  ): Promise<Playbook> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    return await unlessTaken(change.name ?? '', () =>
      this.transactions.run<Playbook>(async (tx) => {
        const before = await this.lock(tx, nameOrId, condition);
        const { id, name } = before;
        const definition = definitionAfter(before.definition, change);
        const after = { id, name: change.name ?? name, definition };
        const fields = changedFields(before, after);
        if (fields.length === 0) return before;
        // A definition from a backup may be invalid under the current settings, and must still be stoppable.
        if (!onlyStops(before, after)) requireValid(definition);
        if (isForManagers(before, after)) requireRole(caller, 'manager');
        const changed = await this.playbooks.update(tx, after, caller.name);
        const renamed = fields.includes('name') ? { name_before: name } : {};
        await this.record(tx, caller.name, 'playbook.updated', changed, { fields, ...renamed });
        return changed;
      }, caller),
    );
  }

  /** The id of the one that is gone. Its runs go on: they have the version that they began with. */
  async delete(caller: Principal, nameOrId: string, condition: IfMatchCondition): Promise<string> {
    return await this.transactions.run(async (tx) => {
      const gone = await this.lock(tx, nameOrId, condition);
      await this.playbooks.markDeleted(tx, gone.id);
      await this.record(tx, caller.name, 'playbook.deleted', gone);
      return gone.id;
    }, caller);
  }

  private async lock(tx: Tx, nameOrId: string, condition: IfMatchCondition): Promise<Playbook> {
    const found = isNameOrId(nameOrId) ? await this.playbooks.lock(tx, nameOrId) : undefined;
    if (!found) throw new PlaybookNotFoundError();
    const { id, version, name, definition, updatedAt } = found;
    const values = { name, ...definition };
    const present = { id, version, revision: revisionOf(found), updatedAt, values };
    await this.history.requireMatch(tx, condition, { type: 'playbook', ...present });
    return found;
  }

  /** The content is in the version: an entry names it, and the fields that changed. */
  private async record(
    tx: Tx,
    actor: string,
    action: Extract<AuditAction, `playbook.${string}`>,
    { id, name, version, definition }: PlaybookVersion,
    more: Readonly<Record<string, unknown>> = {},
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

function unlessTaken<T>(name: string, work: () => Promise<T>): Promise<T> {
  return mapConstraints({ uq_playbooks_name: () => new PlaybookNameTakenError(name) }, work);
}
