// SQL: reads details as the exact text that MACs cover, and uses PostgreSQL snapshots.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../platform/clock.js';
import { Transactions } from '../platform/database/transactions.js';
import type { Caller } from '../platform/http/request.js';
import { firstIdAt } from '../platform/ids.js';
import type { NamedKey } from '../platform/secrets/secret-box.js';
import type { AuditRow } from './audit-entry.js';
import type { AuditExportQueryDto } from './audit.dto.js';
import type { AuditRetiredKeyEntity } from './audit.entity.js';
import { AuditLog } from './audit-log.js';
import {
  AuditKeys,
  faultOfSeal,
  type FindKey,
  HASH_BYTES,
  hex,
  isGenuine,
  macOf,
  type SealedPoint,
  type SealedRow,
} from './chain/audit-chain.js';
import { AUDIT_ROW, AuditChainRepository } from './chain/audit-chain.repository.js';

/* Lines of an export: header, sealed entries by seal, unsealed entries by id, and an end line that signs all lines. */

interface PointLine {
  readonly seq: string;
  readonly hash: string;
}
type SealLine = PointLine & { readonly key_id: string };

interface HeaderLine {
  readonly type: 'export';
  readonly at: string;
  readonly from?: string;
  readonly to?: string;
  readonly previous: PointLine;
  readonly head: PointLine;
  readonly last_seq: string;
  readonly retired_keys: readonly AuditRetiredKeyEntity[];
}

export interface EntryLine extends Omit<AuditRow, 'at' | 'mac'> {
  readonly type: 'entry';
  readonly at: string;
  readonly mac: string;
  readonly seal?: SealLine;
}

interface RemovedLine {
  readonly type: 'removed';
  readonly id: string;
  readonly seal: SealLine;
}

interface EndLine {
  readonly type: 'end';
  readonly sealed: number;
  readonly unsealed: number;
  readonly key_id: string;
  readonly mac: string;
}

export type ExportLine = HeaderLine | EntryLine | RemovedLine | EndLine;

function pointLine({ seq, hash }: SealedPoint): PointLine {
  return { seq: String(seq), hash: hex(hash) };
}

function pointOf({ seq, hash }: PointLine): SealedPoint {
  return { seq: BigInt(seq), hash: Buffer.from(hash, 'hex') };
}

function entryLine(row: AuditRow, seal?: SealLine): EntryLine {
  return { type: 'entry', ...row, at: row.at.toISOString(), mac: hex(row.mac), seal };
}

function rowOf(line: EntryLine): AuditRow {
  return { ...line, at: new Date(line.at), mac: Buffer.from(line.mac, 'hex') };
}

class ExportSum {
  private readonly digest = createHash('sha256');
  sealed = 0;
  unsealed = 0;

  add(texts: readonly string[]): string {
    const text = texts.map((one) => `${one}\n`).join('');
    this.digest.update(text);
    return text;
  }

  end({ id, key }: NamedKey): string {
    const { sealed, unsealed } = this;
    const fields = [this.digest.digest('hex'), String(sealed), String(unsealed)];
    const mac = hex(macOf(key, ['export-end', ...fields]));
    return JSON.stringify({ type: 'end', sealed, unsealed, key_id: id, mac } satisfies EndLine);
  }
}

/** Rows per page. A row may have some kilobytes, and two pages are in memory. */
const PAGE_ROWS = 100;

interface Moment {
  readonly header: HeaderLine;
  readonly ids: { readonly from: string; readonly before: string };
  readonly snapshot: string;
}

const BEYOND_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Rows and seals never change, so each page has its own statement, and a slow reader keeps no transaction open. */
@Injectable()
export class AuditExport {
  constructor(
    private readonly transactions: Transactions,
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Returns one line of JSON per entry. Reads pages only as fast as the caller reads lines. */
  async open(caller: Caller, range: AuditExportQueryDto): Promise<Readable> {
    const from = range.from ? new Date(range.from) : undefined;
    const to = range.to ? new Date(range.to) : undefined;
    await this.transactions.run(
      (tx) =>
        this.log.record(tx, {
          actor: caller.name,
          action: 'audit.exported',
          subject: { type: 'audit', id: 'export' },
          details: { from, to },
        }),
      caller,
    );
    const moment = await this.transactions.snapshot((tx) => this.momentOf(tx, from, to));
    return Readable.from(this.pages(moment), { objectMode: true, highWaterMark: 1 });
  }

  private async momentOf(manager: EntityManager, from?: Date, to?: Date): Promise<Moment> {
    const ids = {
      from: firstIdAt(from?.getTime() ?? 0),
      before: to ? firstIdAt(to.getTime() + 1) : BEYOND_IDS,
    };
    const { lastSeal, now } = await this.chain.readEnd(manager);
    const { first, last } = await this.chain.sealsOf(manager, ids);
    const before = first === null ? lastSeal.seq : BigInt(first) - 1n;
    const hash = await this.chain.hashAt(manager, before);
    const header: HeaderLine = {
      type: 'export',
      at: this.clock.now().toISOString(),
      from: from?.toISOString(),
      to: to?.toISOString(),
      // The hash is empty if the seal was removed. The verification of the file then reports a fault.
      previous: pointLine({ seq: before, hash: hash ?? Buffer.alloc(0) }),
      head: pointLine(lastSeal),
      last_seq: last ?? String(before),
      retired_keys: await this.chain.retiredKeys(manager),
    };
    return { header, ids, snapshot: now.snapshot };
  }

  private async *pages({ header, ids, snapshot }: Moment): AsyncGenerator<string> {
    const { manager } = this.dataSource;
    const sum = new ExportSum();
    const textOf = (lines: readonly ExportLine[]) =>
      sum.add(lines.map((line) => JSON.stringify(line)));
    yield textOf([header]);
    const range = { last: BigInt(header.last_seq), limit: PAGE_ROWS };
    const seals = this.chain.sealedPages(manager, BigInt(header.previous.seq), range);
    for await (const page of seals) {
      sum.sealed += page.length;
      yield textOf(page.map(sealedLine));
    }
    // The smallest id of a millisecond is not a valid UUID, so no row has this id and `id > afterId` misses no row.
    for (let afterId = ids.from; ;) {
      const page = await manager.query<AuditRow[]>(UNSEALED, [
        ...[afterId, ids.before],
        ...[header.head.seq, snapshot],
      ]);
      if (page.length === 0) break;
      afterId = page.at(-1)!.id;
      sum.unsealed += page.length;
      yield textOf(page.map((row) => entryLine(row)));
    }
    yield `${sum.end(this.keys.ring.first)}\n`;
  }
}

function sealedLine({ audit_id, row, key_id, ...point }: SealedRow): ExportLine {
  const seal = { ...pointLine(point), key_id };
  return row ? entryLine(row, seal) : { type: 'removed', id: audit_id, seal };
}

const UNSEALED = `
  select ${AUDIT_ROW} from audit_log a
  where a.id > $1 and a.id < $2 and pg_visible_in_snapshot(a.xid, $4::pg_snapshot)
    and (select true from audit_seals s where s.audit_id = a.id and s.seq <= $3) is null
  order by a.id limit ${PAGE_ROWS}`;

const MOST_FAULTS = 20;

export interface ExportFindings {
  readonly valid: boolean;
  readonly sealed: number;
  readonly unsealed: number;
  readonly faults: readonly string[];
  readonly header: HeaderLine | undefined;
}

export class ExportCheck {
  private readonly faults: string[] = [];
  private readonly sum = new ExportSum();
  private header: HeaderLine | undefined;
  private point: SealedPoint | undefined;
  private findKey: FindKey = () => undefined;
  private ended = false;
  private line = 0;

  constructor(private readonly keys: AuditKeys) {}

  add(text: string): void {
    this.line += 1;
    try {
      this.judge(JSON.parse(text) as ExportLine, text);
    } catch {
      this.fault('is not a line of an export');
    }
  }

  finish(): ExportFindings {
    if (!this.header) this.fault('the file has no header');
    else if (!this.ended) this.fault('the file ends too early: it was cut');
    const { faults, header } = this;
    const { sealed, unsealed } = this.sum;
    return { valid: faults.length === 0, sealed, unsealed, faults, header };
  }

  private judge(line: ExportLine, text: string): void {
    if (this.ended) return this.fault('comes after the end');
    if (line.type === 'end') return this.close(line, text);
    this.sum.add([text]);
    if (line.type === 'export') return this.begin(line);
    if (!this.point) return this.fault('comes before the header');
    if (line.type === 'removed') return this.follow(line, line.seal, this.point);
    if (line.type !== 'entry') return this.fault('is not a line of an export');
    if (line.seal) return this.follow(line, line.seal, this.point);
    this.sum.unsealed += 1;
    if (!isGenuine(rowOf(line), this.keys.ring)) this.fault('was changed', line.id);
  }

  private begin(line: HeaderLine): void {
    if (this.line !== 1) return this.fault('is a second header');
    this.findKey = this.keys.finder(line.retired_keys);
    this.header = line;
    this.point = pointOf(line.previous);
    if (this.point.hash.length !== HASH_BYTES) this.fault('the seal before the first is missing');
  }

  private follow(line: EntryLine | RemovedLine, sealed: SealLine, previous: SealedPoint): void {
    this.sum.sealed += 1;
    // After a fault, the next line is compared with the seal in the file, so that one fault is reported only once.
    const point = (this.point = pointOf(sealed));
    const row = line.type === 'removed' ? undefined : rowOf(line);
    const seal = { ...point, key_id: sealed.key_id, audit_id: line.id, row };
    const fault = faultOfSeal(this.findKey, previous, seal);
    if (fault !== undefined) this.fault(fault, line.id);
  }

  private close(line: EndLine, text: string): void {
    this.ended = true;
    const named = this.keys.ring.find(line.key_id);
    if (!named) this.fault(`needs the key ${line.key_id}, which SECRETS_KEY does not hold`);
    else if (this.sum.end(named) !== text) {
      this.fault('the end does not fit: lines were changed, added or removed');
    }
  }

  private fault(message: string, id?: string): void {
    if (this.faults.length === MOST_FAULTS) return;
    this.faults.push(`line ${this.line}: ${id === undefined ? '' : `entry ${id} `}${message}`);
  }
}
