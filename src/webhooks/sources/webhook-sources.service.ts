import { Injectable, Logger } from '@nestjs/common';
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
import { findOrder, findPage, type Page } from '../../platform/paging/page.js';
import type { SealedColumn } from '../../platform/secrets/secret-keys.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { readEventJson } from '../reading/event-json.js';
import { openBody, type ReadEvent } from '../reading/read-events.js';
import {
  DEFAULT_SETTINGS,
  requireUsable,
  requireValidSettings,
  settingsAfter,
} from './source-rules.js';
import { type ReceivingSource, SOURCE_NAME, WebhookSourceEntity } from './webhook-source.entity.js';
import type {
  WebhookSourceInputDto,
  WebhookSourceQueryDto,
  WebhookSourceUpdateDto,
} from './webhook-sources.dto.js';

/** Time for which the previous secret stays valid. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

const contextOf = (source: string): string => `webhook:${source}`;

export const WEBHOOK_SECRETS: readonly SealedColumn[] = ['secret', 'previous_secret'].map(
  (column) => ({
    table: 'webhook_sources',
    column,
    id: ['source'],
    where: `${column} is not null`,
    context: ({ source }) => contextOf(source!),
  }),
);

const VALID_MS = 500;

type Sources = ReadonlyMap<string, ReceivingSource>;

/** Manages sources. Caches all sources, so that signed requests usually need no query. */
@Injectable()
export class WebhookSourcesService {
  private readonly log = new Logger('Webhooks');
  private readonly turns = new LoopTurns();
  private sources: Promise<Sources> | undefined;
  private readAt = 0;
  /** Encrypted secrets for which a decryption failure was already logged. */
  private readonly unreadable = new Set<string>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly box: SecretBox,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Returns the source, even if it is disabled. Throws if the database does not respond. */
  async find(name: string): Promise<ReceivingSource | undefined> {
    return SOURCE_NAME.test(name) ? (await this.valid()).get(name) : undefined;
  }

  async enabledNames(): Promise<string[]> {
    const sources = await this.valid();
    return [...sources.values()].filter(({ enabled }) => enabled).map(({ source }) => source);
  }

  async list({ sort, ...range }: WebhookSourceQueryDto): Promise<Page<WebhookSourceEntity>> {
    const order = findOrder(sort, { created_at: 'created_at', source: 'source' }, 'source');
    return await findPage(this.dataSource.getRepository(WebhookSourceEntity), range, { order });
  }

  async preview(name: string, bytes: Buffer = Buffer.alloc(0)): Promise<ReadEvent[]> {
    const source = await this.get(name);
    const events = await this.turns.run(() => openBody(source, readEventJson(bytes)).read());
    if (typeof events === 'string') throw ValidationError.of('', 'unknown_format', events);
    return events;
  }

  async create(
    caller: Caller,
    { source, secret, ...wanted }: WebhookSourceInputDto,
    idempotency: Participant<WebhookSourceEntity>,
  ): Promise<WebhookSourceEntity> {
    const settings = settingsAfter(DEFAULT_SETTINGS, wanted);
    requireUsable(secret, settings.signature);
    const sealed = { source, secret: this.box.seal(secret, contextOf(source)) };
    const insert = async (tx: Tx) => {
      await tx.insert(WebhookSourceEntity, { ...settings, ...sealed, created_by: caller.name });
      return await this.recorded(tx, caller, 'webhook_source.created', source);
    };
    const taken = () => new AppError('conflict', `A webhook source ${source} already exists.`);
    return await mapConstraints({ pk_webhook_sources: taken }, () =>
      this.transactions.run<WebhookSourceEntity>(insert, caller, idempotency),
    );
  }

  async update(caller: Caller, source: string, change: WebhookSourceUpdateDto) {
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    if (given.length === 0) throw ValidationError.nothingGiven();
    requireValidSettings(change);
    return await this.transactions.run<WebhookSourceEntity>(async (tx) => {
      const after = this.contentAfter(await this.get(source, tx), change);
      await tx.update(WebhookSourceEntity, { source }, { ...after, updated_at: () => 'now()' });
      const fields = given.map(([name]) => name);
      return await this.recorded(tx, caller, 'webhook_source.updated', source, { fields });
    }, caller);
  }

  async delete(caller: Caller, source: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      await this.get(source, tx);
      await this.recorded(tx, caller, 'webhook_source.deleted', source);
      await tx.delete(WebhookSourceEntity, { source });
    }, caller);
  }

  /** Only the newest two secrets are valid. */
  private contentAfter(before: WebhookSourceEntity, change: WebhookSourceUpdateDto) {
    const { source } = before;
    const { secret, revoke_old_secret } = change;
    const settings = settingsAfter(before, change);
    if (settings.enabled && before.secret === null && secret === undefined) {
      const message = 'secret is required, because the stored secret is lost.';
      throw ValidationError.of('secret', 'required', message);
    }
    const current = this.open(source, before.secret);
    requireUsable(secret, settings.signature, current);
    // The comparison needs no constant time, because the caller may set the secret anyway.
    const isNew = secret !== undefined && secret !== current;
    const until = new Date(this.clock.now().getTime() + OVERLAP_MS);
    const replaced = { previous_secret: before.secret, previous_secret_until: until };
    return {
      ...settings,
      secret: isNew ? this.box.seal(secret, contextOf(source)) : before.secret,
      ...(isNew && current !== undefined && replaced),
      ...(revoke_old_secret && { previous_secret: null, previous_secret_until: null }),
    };
  }

  async get(source: string, tx?: Tx): Promise<WebhookSourceEntity> {
    const manager = tx ?? this.dataSource.manager;
    const lock = tx && ({ mode: 'pessimistic_write' } as const);
    const options = { where: { source }, lock };
    const found = SOURCE_NAME.test(source) && (await manager.findOne(WebhookSourceEntity, options));
    if (!found) throw new NotFoundError('Webhook source');
    return found;
  }

  /** Audits the names of changed fields, not secrets. After the commit, signed requests use the changed source. */
  private async recorded(
    tx: Tx,
    caller: Caller,
    action: Extract<AuditAction, `webhook_source.${string}`>,
    source: string,
    details?: { readonly fields: readonly string[] },
  ): Promise<WebhookSourceEntity> {
    const row = await tx.findOneByOrFail(WebhookSourceEntity, { source });
    const { enabled, signature, format, preset } = row;
    const subject = { type: 'webhook_source', id: source };
    const shown = { enabled, signature, format, preset: preset ?? undefined, ...details };
    await this.audit.record(tx, { actor: caller.name, action, subject, details: shown });
    afterCommit(tx, () => this.forget());
    return row;
  }

  forget(): void {
    this.sources = undefined;
  }

  private open(source: string, sealed: string | null): string | undefined {
    try {
      return sealed === null ? undefined : this.box.open(sealed, contextOf(source));
    } catch {
      return undefined;
    }
  }

  private valid(): Promise<Sources> {
    const now = performance.now();
    if (this.sources && now - this.readAt < VALID_MS) return this.sources;
    this.readAt = now;
    const sources = (this.sources = this.read());
    sources.catch(() => {
      if (this.sources === sources) this.forget();
    });
    return sources;
  }

  private async read(): Promise<Sources> {
    const rows = await this.dataSource.getRepository(WebhookSourceEntity).find();
    const sources = rows.map(({ secret, previous_secret, ...row }) => {
      const { source, previous_secret_until: until } = row;
      const secrets = [{ value: secret }, { value: previous_secret, until }].flatMap((sealed) => {
        const value = this.open(source, sealed.value);
        if (value === undefined) this.reportUnreadable(source, sealed.value);
        return value === undefined ? [] : [{ ...sealed, value }];
      });
      return [source, { ...row, secrets }] as const;
    });
    return new Map(sources);
  }

  private reportUnreadable(source: string, sealed: string | null): void {
    if (sealed === null || this.unreadable.has(sealed)) return;
    this.unreadable.add(sealed);
    this.log.error({ source }, 'A secret of a webhook source cannot be decrypted: set a new one');
  }
}
