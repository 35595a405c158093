import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { DataSource } from 'typeorm';
import type { AuditAction } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../platform/clock.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { mapConstraints } from '../../platform/database/sqlstate.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../../platform/errors/app-error.js';
import type { Caller } from '../../platform/http/request.js';
import {
  findOrder,
  findPage,
  type Page,
  type PageRequest,
  sortWords,
} from '../../platform/paging/page.js';
import { readEventJson } from '../reading/event-json.js';
import { openBody, type ReadEvent } from '../reading/read-events.js';
import { NO_SECRETS, SealedSecrets, SourceDirectory, withoutSecrets } from './source-directory.js';
import {
  DEFAULT_SETTINGS,
  secretProblem,
  SETTINGS,
  settingsAfter,
  type SettingsChange,
  settingsProblems,
} from './source-rules.js';
import {
  type SignatureScheme,
  SOURCE_NAME,
  type WebhookSource,
  WebhookSourceEntity,
} from './webhook-source.entity.js';

export const WEBHOOK_SOURCE_SORTS = sortWords('created_at', 'source');
export type WebhookSourceSort = (typeof WEBHOOK_SOURCE_SORTS)[number];

type NewWebhookSource = SettingsChange & Readonly<Record<'source' | 'secret', string>>;
type WebhookSourceChange = SettingsChange & {
  readonly secret?: string;
  readonly revoke_old_secret?: boolean;
};

const RECORDED = [...SETTINGS, 'secret', 'previous_secret'] as const;

@Injectable()
export class WebhookSourcesService {
  private readonly turns = new LoopTurns();

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly secrets: SealedSecrets,
    private readonly directory: SourceDirectory,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(range: PageRequest, sort: readonly WebhookSourceSort[]): Promise<Page<WebhookSource>> {
    const order = findOrder(sort, { created_at: 'created_at', source: 'source' }, 'source');
    const rows = this.dataSource.getRepository(WebhookSourceEntity);
    const { items, total } = await findPage(rows, range, { order });
    return { items: items.map((row) => this.shown(row)), total };
  }

  async get(source: string): Promise<WebhookSource> {
    return this.shown(await this.read(source));
  }

  async preview(name: string, bytes: Buffer = Buffer.alloc(0)): Promise<ReadEvent[]> {
    const source = await this.get(name);
    const events = await this.turns.run(() => {
      const body = openBody(source, readEventJson(bytes));
      return body.isEmpty ? [] : body.read();
    });
    if (typeof events === 'string') throw ValidationError.of('', 'unknown_format', events);
    return events;
  }

  async create(
    caller: Caller,
    { source, secret, ...wanted }: NewWebhookSource,
    idempotency: Participant<WebhookSource>,
  ): Promise<WebhookSource> {
    requireValid(wanted);
    const settings = settingsAfter(DEFAULT_SETTINGS, wanted);
    requireUsable(secret, settings.signature, 'secret');
    const secrets = this.secrets.change({ source, ...NO_SECRETS }, { secret }, this.clock.now());
    const taken = () => new AppError('conflict', `A webhook source ${source} already exists.`);
    return await mapConstraints({ pk_webhook_sources: taken }, () =>
      this.transactions.run<WebhookSource>(
        async (tx) => {
          const rows = tx.getRepository(WebhookSourceEntity);
          await rows.insert({ source, ...settings, ...secrets, created_by: caller.name });
          return await this.recorded(tx, caller, 'webhook_source.created', source);
        },
        caller,
        idempotency,
      ),
    );
  }

  async update(
    caller: Caller,
    source: string,
    change: WebhookSourceChange,
  ): Promise<WebhookSource> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    requireValid(change);
    return await this.transactions.run<WebhookSource>(async (tx) => {
      const before = await this.read(source, tx);
      const after = this.contentAfter(before, change);
      const fields = RECORDED.filter((name) => !isDeepStrictEqual(before[name], after[name]));
      if (fields.length === 0) return this.shown(before);
      const rows = tx.getRepository(WebhookSourceEntity);
      await rows.update({ source }, { ...after, updated_at: () => 'now()' });
      const { revoke_old_secret } = change;
      const details = { fields, revoke_old_secret };
      return await this.recorded(tx, caller, 'webhook_source.updated', source, details);
    }, caller);
  }

  async delete(caller: Caller, source: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      await this.read(source, tx);
      await this.recorded(tx, caller, 'webhook_source.deleted', source);
      await tx.getRepository(WebhookSourceEntity).delete({ source });
    }, caller);
  }

  private contentAfter(before: WebhookSourceEntity, change: WebhookSourceChange) {
    const settings = settingsAfter(before, change);
    const secrets = this.secrets.change(before, change, this.clock.now());
    if (settings.enabled && secrets.secret === null) {
      const message = 'secret is required, because the stored secret is lost.';
      throw ValidationError.of('secret', 'required', message);
    }
    if (change.secret !== undefined) {
      requireUsable(change.secret, settings.signature, 'secret');
    } else if (settings.signature !== before.signature) {
      const stored = this.secrets.open(before.source, before.secret);
      if (stored !== undefined) requireUsable(stored, settings.signature, 'signature');
    }
    return { ...settings, ...secrets };
  }

  /** Locks the source if `tx` is given. */
  private async read(source: string, tx?: Tx): Promise<WebhookSourceEntity> {
    const rows = (tx ?? this.dataSource).getRepository(WebhookSourceEntity);
    const lock = tx && ({ mode: 'pessimistic_write' } as const);
    const found = SOURCE_NAME.test(source) ? await rows.findOne({ where: { source }, lock }) : null;
    if (!found) throw new NotFoundError('Webhook source');
    return found;
  }

  private shown(row: WebhookSourceEntity): WebhookSource {
    return withoutSecrets(row, this.clock.now());
  }

  /** Records the change with the names of changed fields, but no secret. Receipts use the change after the commit. */
  private async recorded(
    tx: Tx,
    caller: Caller,
    action: Extract<AuditAction, `webhook_source.${string}`>,
    source: string,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<WebhookSource> {
    const row = await tx.getRepository(WebhookSourceEntity).findOneByOrFail({ source });
    const { enabled, signature, format, preset } = row;
    const subject = { type: 'webhook_source', id: source };
    const shown = { enabled, signature, format, preset: preset ?? undefined, ...details };
    await this.audit.record(tx, { actor: caller.name, action, subject, details: shown });
    afterCommit(tx, () => this.directory.forget());
    return this.shown(row);
  }
}

function requireValid(change: SettingsChange): void {
  const problems = settingsProblems(change);
  if (problems.length > 0) throw new ValidationError(problems);
}

function requireUsable(secret: string, signature: SignatureScheme, field: string): void {
  const problem = secretProblem(secret, signature);
  if (problem) throw ValidationError.of(field, 'matches', problem);
}
