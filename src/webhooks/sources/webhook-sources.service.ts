import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { DataSource } from 'typeorm';
import type { AuditAction } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../platform/clock.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { mapConstraints } from '../../platform/database/sqlstate.js';
import {
  type Participant,
  Transactions,
  type Tx,
  afterCommit,
} from '../../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../../platform/errors/app-error.js';
import type { Caller } from '../../platform/http/request.js';
import { findOrder, type Page, type PageRequest, sortWords } from '../../platform/paging/page.js';
import { isLines } from '../reading/event-json.js';
import { type ReadEvent, isUnfit, openBytes } from '../reading/read-events.js';
import { NO_SECRETS, SealedSecrets, type SecretChange } from './sealed-secrets.js';
import {
  DEFAULT_SETTINGS,
  SETTINGS,
  type SettingsChange,
  secretProblem,
  settingsAfter,
  settingsProblems,
} from './source-rules.js';
import { SourceDirectory, withoutSecrets } from './source-directory.js';
import {
  type SignatureScheme,
  SOURCE_NAME,
  type WebhookSource,
  WebhookSourceEntity,
} from './webhook-source.entity.js';

export const WEBHOOK_SOURCE_SORTS = sortWords('created_at', 'source');
export type WebhookSourceSort = (typeof WEBHOOK_SOURCE_SORTS)[number];

type NewWebhookSource = SettingsChange & {
  readonly source: string;
  readonly secret: string;
};
type WebhookSourceChange = SettingsChange & SecretChange;

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

  async list(
    { page, per_page: take }: PageRequest,
    sort: readonly WebhookSourceSort[],
  ): Promise<Page<WebhookSource>> {
    const order = findOrder(sort, { created_at: 'created_at', source: 'source' }, 'source');
    const rows = this.dataSource.getRepository(WebhookSourceEntity);
    const [items, total] = await rows.findAndCount({ order, take, skip: (page - 1) * take });
    return { items: items.map((row) => this.shown(row)), total };
  }

  async get(source: string): Promise<WebhookSource> {
    return this.shown(await this.read(source));
  }

  async preview(
    name: string,
    contentType: string | undefined,
    body: Buffer = Buffer.alloc(0),
  ): Promise<ReadEvent[]> {
    const source = await this.get(name);
    const pieces = openBytes(source, body, isLines(contentType));
    const opened = await this.turns.runInPieces(pieces);
    if (opened.isEmpty) return [];
    const events = opened.read();
    if (!isUnfit(events)) return events;
    throw ValidationError.of('', 'unknown_format', events);
  }

  async create(
    caller: Caller,
    { source, secret, ...wanted }: NewWebhookSource,
    idempotency: Participant<WebhookSource>,
  ): Promise<WebhookSource> {
    requireValid(wanted);
    const settings = settingsAfter(DEFAULT_SETTINGS, wanted);
    requireMapping(settings);
    requireUsable(secret, settings.signature, 'secret');
    const secrets = this.secrets.change({ source, ...NO_SECRETS }, { secret }, this.clock.now());
    const taken = () => new AppError('conflict', `A webhook source ${source} already exists.`);
    return await mapConstraints({ pk_webhook_sources: taken }, () =>
      this.transactions.run<WebhookSource>(
        async (tx) => {
          const rows = tx.getRepository(WebhookSourceEntity);
          await rows.insert({ source, ...settings, ...secrets, created_by: caller.name });
          const row = await rows.findOneByOrFail({ source });
          await this.record(tx, caller, 'webhook_source.created', row);
          return this.shown(row);
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
      const row = await rows.findOneByOrFail({ source });
      const { revoke_old_secret } = change;
      await this.record(tx, caller, 'webhook_source.updated', row, { fields, revoke_old_secret });
      return this.shown(row);
    }, caller);
  }

  async delete(caller: Caller, source: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      const gone = await this.read(source, tx);
      await tx.getRepository(WebhookSourceEntity).delete({ source });
      await this.record(tx, caller, 'webhook_source.deleted', gone);
    }, caller);
  }

  private contentAfter(before: WebhookSourceEntity, change: WebhookSourceChange) {
    const settings = settingsAfter(before, change);
    requireMapping(settings);
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

  /** Records the names of changed fields, but no secret. Receipts use the change after the commit. */
  private async record(
    tx: Tx,
    caller: Caller,
    action: Extract<AuditAction, `webhook_source.${string}`>,
    { source, enabled, signature, format, preset }: WebhookSourceEntity,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const subject = { type: 'webhook_source', id: source };
    const shown = { enabled, signature, format, preset: preset ?? undefined, ...details };
    await this.audit.record(tx, { actor: caller.name, action, subject, details: shown });
    afterCommit(tx, () => this.directory.forget());
  }
}

function requireValid(change: SettingsChange): void {
  const problems = settingsProblems(change);
  if (problems.length > 0) throw new ValidationError(problems);
}

function requireMapping({ format, mapping }: Pick<SettingsChange, 'format' | 'mapping'>): void {
  if (format !== 'mapping' || mapping) return;
  const message = 'mapping or preset is required if format is mapping.';
  throw ValidationError.of('mapping', 'required', message);
}

function requireUsable(secret: string, signature: SignatureScheme, field: string): void {
  const problem = secretProblem(secret, signature);
  if (problem) throw ValidationError.of(field, 'matches', problem);
}
