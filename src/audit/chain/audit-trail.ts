import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { BackgroundLoop } from '../../platform/concurrency/background-loop.js';
import { sharedRuns } from '../../platform/concurrency/batcher.js';
import type { Settings } from '../../platform/config/settings.js';
import { type Tx, Transactions } from '../../platform/database/transactions.js';
import type { AuditVerificationDto } from '../audit.dto.js';
import { AuditLogEntity, AuditRetiredKeyEntity } from '../audit.entity.js';
import {
  AuditKeys,
  faultOfEnd,
  faultOfSeal,
  GENESIS,
  isGenuine,
  nextSeal,
  type SealedPoint,
  signHead,
} from './audit-chain.js';
import { AuditChainRepository, NOT_SEALED, PAGE_ROWS } from './audit-chain.repository.js';
import { acceptHead, AuditWitness } from './audit-witness.js';

/** Error: the chain was altered. The service stops sealing, because a new seal would also sign the alteration. */
class BrokenChainError extends Error {}

/** `elsewhere` means that another replica holds the lock of the head. */
type SealingResult = 'more' | 'done' | 'elsewhere';

const EVERY_MS = 1_000;
const PAGES_AT_ONCE = 100;

/** Gives rows their order after their commit, so that writers wait for nothing: see docs/adr/0006-audit-chain.md. */
@Injectable()
export class AuditTrail implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AuditTrail.name);
  private readonly loop = new BackgroundLoop(
    { task: 'Sealing the audit trail', log: this.logger, pauseMs: EVERY_MS },
    () => this.sealAndSave(),
  );
  private started = false;
  broken: string | undefined;
  /** Seals all committed rows. Does nothing if another replica is sealing. */
  readonly seal = sharedRuns(() => this.sealPages());
  readonly verify = sharedRuns(() => this.verifyAll());

  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.witness.load();
    this.started = true;
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.started) return;
    await this.loop.stop();
    await this.sealAndSave().catch(() => undefined);
  }

  private async sealAndSave(): Promise<void> {
    await this.seal().finally(() => this.witness.save());
  }

  private async sealPages(): Promise<void> {
    try {
      for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
        if ((await this.sealPage()) !== 'more') break;
      }
      this.broken = undefined;
    } catch (error) {
      if (!(error instanceof BrokenChainError)) throw error;
      if (error.message !== this.broken) this.logger.error(error.message);
      this.broken = error.message;
    }
  }

  async sealPage(): Promise<SealingResult> {
    const sealed = await this.transactions.run((tx) => this.sealIn(tx));
    if (sealed === undefined) return 'elsewhere';
    this.witness.recordHead(sealed.point);
    return sealed.more ? 'more' : 'done';
  }

  private async sealIn(tx: Tx): Promise<{ point: SealedPoint; more: boolean } | undefined> {
    const locked = await this.chain.lockHead(tx);
    const end = await this.chain.readEnd(tx);
    const { head, now, restored, sealedTo } = end;
    if (!locked && head) return undefined;
    const fault = faultOfEnd(end, this.keys.ring);
    if (fault !== undefined) {
      throw new BrokenChainError(
        `The audit chain is broken, and sealing has stopped: ${fault}. See GET /api/audit/verify.`,
      );
    }
    await this.witness.compareChain(tx, end);

    const start: SealedPoint = head ?? GENESIS;
    const page = await this.chain.unsealedPage(tx, sealedTo);
    const { first } = this.keys.ring;
    // A head of another cluster or of an older key is replaced even if there are no new rows.
    const isCurrent = !head || (!restored && head.key_id === first.id);
    if (page.length === 0 && isCurrent) return { point: start, more: false };
    let point = start;
    const seals = page.map((row) => {
      point = nextSeal(first.key, point, row);
      return { ...point, audit_id: row.id, key_id: first.id };
    });
    const more = page.length === PAGE_ROWS;
    const progress = { cluster: now.cluster, sealed_to: more ? sealedTo : now.snapshot };
    const next = signHead(first, point, progress);
    if (locked) await this.chain.writeHead(tx, next);
    else if (!(await this.chain.beginHead(tx, next))) return undefined;
    await this.chain.insertSeals(tx, seals);
    return { point, more };
  }

  /** Returns true if the last verification of any replica found a fault, and the chain was not accepted later. */
  async foundInvalid(manager: EntityManager): Promise<boolean> {
    const at = (await this.chain.readHead(manager))?.found_invalid_at;
    return at ? at.getTime() > this.witness.acceptedAt : false;
  }

  private async verifyAll(): Promise<AuditVerificationDto> {
    // Reads the head before the snapshot begins, so that the snapshot contains the seal of the head.
    const { head } = this.witness;
    const found = await this.transactions.snapshot((manager) => this.verifyIn(manager, head));
    const found_invalid_at = found.valid ? null : this.clock.now();
    await this.transactions.run((tx) => this.chain.writeHead(tx, { found_invalid_at }));
    return found;
  }

  private async verifyIn(
    manager: EntityManager,
    head: AuditWitness['head'],
  ): Promise<AuditVerificationDto> {
    const end = await this.chain.readEnd(manager);
    const fault = faultOfEnd(end, this.keys.ring);
    const acceptedAt = await this.witness.lastAcceptedAt(manager);
    const { count: checked, invalidId } = await this.walkSeals(manager);
    let first_invalid_id = invalidId;
    let unsealed = 0;
    for await (const page of this.chain.unsealedPages(manager, end.sealedTo)) {
      unsealed += page.length;
      first_invalid_id ??= page.find((row) => row.overdue || !isGenuine(row, this.keys.ring))?.id;
    }
    const isRewound =
      head.at.getTime() > acceptedAt && !(await this.chain.containsSeal(manager, head));
    const valid = fault === undefined && first_invalid_id === undefined && !isRewound;
    return { valid, checked, unsealed, first_invalid_id, head_rewound: isRewound || undefined };
  }

  private async walkSeals(manager: EntityManager): Promise<{ count: number; invalidId?: string }> {
    const findKey = this.keys.finder(await this.chain.retiredKeys(manager));
    let previous = GENESIS;
    for await (const page of this.chain.sealedPages(manager, previous.seq)) {
      for (const seal of page) {
        if (faultOfSeal(findKey, previous, seal) !== undefined) {
          return { count: Number(previous.seq), invalidId: seal.audit_id };
        }
        previous = seal;
      }
    }
    return { count: Number(previous.seq) };
  }
}

const RETRY_MS = 50;

/** Seals and verifies all rows and encrypts the older keys, so that the trail needs only the first key. */
export async function resealTrail(
  dataSource: DataSource,
  keys: AuditKeys,
  settings: Settings,
): Promise<number> {
  const { manager } = dataSource;
  const transactions = new Transactions(dataSource);
  const chain = new AuditChainRepository();
  const clock = new Clock();
  const witness = new AuditWitness(settings, chain, keys, clock);
  await witness.load();
  const hasFile = witness.head.seq > 0n;
  const trail = new AuditTrail(transactions, chain, keys, witness, clock);
  for (;;) {
    const sealed = await trail.sealPage();
    if (sealed === 'done') break;
    if (sealed === 'elsewhere') await sleep(RETRY_MS);
  }
  const { valid, checked, first_invalid_id: id } = await trail.verify();
  if (!valid) {
    const place = id === undefined ? '' : ` at ${id}`;
    throw new Error(
      `The audit trail was altered${place}: see GET /api/audit/verify. Keep the older keys.`,
    );
  }
  const firstId = keys.ring.first.id;
  const waiting = manager.createQueryBuilder(AuditLogEntity, 'a').where(NOT_SEALED);
  if (await waiting.andWhere('a.key_id <> :firstId', { firstId }).getExists()) {
    throw new Error('Entries of an older key still wait to be sealed. Run this command again.');
  }
  const accepted = await chain.lastAcceptance(manager);
  // The entry that accepts the chain must have the first key, so an entry of an older key is repeated.
  if (accepted && accepted.key_id !== firstId) {
    await acceptHead(dataSource, keys, 'accepted before, under an older key');
  }
  const { lastSeal } = await chain.readEnd(manager);
  const retired = keys.retireOlder(lastSeal.seq);
  await transactions.run((tx) =>
    tx.getRepository(AuditRetiredKeyEntity).upsert(retired, ['key_id']),
  );
  if (hasFile) await witness.save();
  return checked;
}
