import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SYSTEM } from '../actions/action.js';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { VersionHistory } from '../audit/changes/version-history.js';
import { requireRole } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';
import { mapConstraints, violatedConstraint } from '../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import type { IfMatchCondition } from '../platform/http/etag.js';
import { newId } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import { checkPlaybook } from './language/check-playbook.js';
import {
  changedFields,
  DEFAULT_DEFINITION,
  definitionAfter,
  type DefinitionChange,
  isForManagers,
  onlyStops,
  type PlaybookDefinition,
  type PlaybookEntity,
  type PlaybookVersion,
  type PlaybookVersionEntity,
  revisionOf,
} from './playbook.js';
import type { PlaybookQueryDto, PlaybookVersionsQueryDto } from './playbook.dto.js';
import { PlaybooksRepository } from './playbooks.repository.js';
import malwareContainment from './shipped/malware-containment.json';
import phishingResponse from './shipped/phishing-response.json';
import suspiciousLogin from './shipped/suspicious-login.json';

/**
 * Texts for people in these playbooks do not contain raw words of the incident: strangers write them, with mentions and links
 * that chats and tickets act on. docs/playbooks.md describes each playbook.
 */
export const SHIPPED_PLAYBOOKS = [
  phishingResponse,
  malwareContainment,
  suspiciousLogin,
] as readonly Pick<PlaybookVersion, 'name' | 'definition'>[];

/** Maximum number of playbooks. Lists and automatic runs read whole definitions. */
export const MOST_PLAYBOOKS = 1_000;

type NewPlaybook = DefinitionChange & { readonly name: string };
type PlaybookChange = DefinitionChange & { readonly name?: string };

@Injectable()
export class PlaybooksService implements OnApplicationBootstrap {
  constructor(
    private readonly transactions: Transactions,
    private readonly playbooks: PlaybooksRepository,
    private readonly audit: AuditLog,
    private readonly history: VersionHistory,
  ) {}

  /** Creates the shipped playbooks if there has never been a playbook. Later releases do not change them. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.transactions.run(async (tx) => {
        if (await this.playbooks.hasEverBeenOne(tx)) return;
        for (const { name, definition } of SHIPPED_PLAYBOOKS) {
          await this.insert(tx, name, definition, SYSTEM);
        }
      });
    } catch (error) {
      // Another replica was first.
      if (violatedConstraint(error) !== 'uq_playbooks_name') throw error;
    }
  }

  list(request: PlaybookQueryDto): Promise<Page<PlaybookEntity>> {
    return this.playbooks.list(request);
  }

  async get(nameOrId: string): Promise<PlaybookEntity> {
    return found(await this.playbooks.find(nameOrId));
  }

  async findEnabled(nameOrId: string, tx?: Tx): Promise<PlaybookEntity | undefined> {
    const playbook = await this.playbooks.find(nameOrId, tx);
    return playbook?.enabled ? playbook : undefined;
  }

  async versions(
    nameOrId: string,
    request: PlaybookVersionsQueryDto,
  ): Promise<Page<PlaybookVersionEntity>> {
    return await this.playbooks.versions(found(await this.playbooks.findId(nameOrId)), request);
  }

  /** Throws the validation errors that `create` would throw. */
  check(wanted: NewPlaybook): void {
    requireValid(definitionAfter(DEFAULT_DEFINITION, wanted));
  }

  async create(
    caller: Principal,
    wanted: NewPlaybook,
    idempotency: Participant<PlaybookEntity>,
  ): Promise<PlaybookEntity> {
    const { name } = wanted;
    const definition = definitionAfter(DEFAULT_DEFINITION, wanted);
    return await unlessTaken(name, () =>
      this.transactions.run<PlaybookEntity>(
        async (tx) => {
          if (isForManagers(undefined, { name, definition })) requireRole(caller, 'manager');
          requireValid(definition);
          if ((await this.playbooks.countAlone(tx)) >= MOST_PLAYBOOKS) {
            const message = `The limit of ${MOST_PLAYBOOKS} playbooks is reached. Delete one first.`;
            throw new AppError('conflict', message);
          }
          return await this.insert(tx, name, definition, caller.name);
        },
        caller,
        idempotency,
      ),
    );
  }

  /** Creates a new version, unless the change changes nothing. */
  async update(
    caller: Principal,
    nameOrId: string,
    change: PlaybookChange,
    condition: IfMatchCondition,
  ): Promise<PlaybookEntity> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    return await unlessTaken(change.name ?? '', () =>
      this.transactions.run<PlaybookEntity>(async (tx) => {
        const before = found(await this.playbooks.find(nameOrId, tx, true));
        const { id, name } = before;
        const definition = definitionAfter(before.definition, change);
        const after = { id, name: change.name ?? name, definition };
        if (isForManagers(before, after)) requireRole(caller, 'manager');
        // A definition from a backup may be invalid under the current settings, and must still be stoppable.
        if (!onlyStops(before, after)) requireValid(definition);
        await this.requireMatch(tx, before, condition);
        const fields = changedFields(before, after);
        if (fields.length === 0) return before;
        const changed = await this.playbooks.store(tx, after, caller.name);
        const renamed = fields.includes('name') ? { name_before: name } : {};
        await this.record(tx, caller.name, 'playbook.updated', changed, { fields, ...renamed });
        return changed;
      }, caller),
    );
  }

  /** Returns the id of the deleted playbook. Its runs continue with their version. */
  async delete(caller: Principal, nameOrId: string, condition: IfMatchCondition): Promise<string> {
    return await this.transactions.run(async (tx) => {
      const playbook = found(await this.playbooks.find(nameOrId, tx, true));
      await this.requireMatch(tx, playbook, condition);
      await this.playbooks.markDeleted(tx, playbook.id);
      await this.record(tx, caller.name, 'playbook.deleted', playbook);
      return playbook.id;
    }, caller);
  }

  private async insert(
    tx: Tx,
    name: string,
    definition: PlaybookDefinition,
    by: string,
  ): Promise<PlaybookEntity> {
    const created = await this.playbooks.store(tx, { id: newId(), name, definition }, by);
    await this.record(tx, by, 'playbook.created', created);
    return created;
  }

  private async requireMatch(
    tx: Tx,
    playbook: PlaybookEntity,
    condition: IfMatchCondition,
  ): Promise<void> {
    const { id, version, name, definition, updated_at: updatedAt } = playbook;
    const values = { name, ...definition };
    const current = { id, version, revision: revisionOf(playbook), updatedAt, values };
    await this.history.requireMatch(tx, condition, { type: 'playbook', ...current });
  }

  /** The record names the version, which has the content, and the fields that changed. */
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
  const taken = () => new AppError('conflict', `A playbook named ${name} already exists.`);
  return mapConstraints({ uq_playbooks_name: taken }, work);
}

/** Throws not_found if there is no such playbook. */
export function found<T>(playbook: T | undefined): T {
  if (playbook === undefined) throw new NotFoundError('Playbook');
  return playbook;
}
