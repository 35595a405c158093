// SQL: details as the text that MACs cover, and PostgreSQL snapshots.
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { Caller } from '../../platform/http/request.js';
import { firstIdAt } from '../../platform/ids.js';
import type { AuditRow } from '../audit-entry.js';
import type { AuditExportQueryDto } from '../audit.dto.js';
import { AuditLog } from '../audit-log.js';
import { AuditKeys, type SealedRow } from '../chain/audit-chain.js';
import { AUDIT_ROW, AuditChainRepository } from '../chain/audit-chain.repository.js';
import {
  entryLine,
  type ExportLine,
  ExportSum,
  type HeaderLine,
  pointLine,
} from './export-file.js';

/** Rows per page. A row may have some kilobytes, and two pages are in memory. */
const PAGE_ROWS = 100;

interface Moment {
  readonly header: HeaderLine;
  readonly ids: { readonly from: string; readonly before: string };
  readonly snapshot: string;
}

const BEYOND_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Exports a range of the trail for verification without the service. Rows and seals never change, so each page is read in
 * its own statement, even for a slow reader.
 */
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

  /** Returns one line of JSON per entry. Pages are read at the speed of the caller. */
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
      // Empty if the seal was removed. The verification of the file then reports a fault.
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
    const last = BigInt(header.last_seq);
    for (let seq = BigInt(header.previous.seq); ;) {
      const page = await this.chain.sealsAfter(manager, seq, { last, limit: PAGE_ROWS });
      if (page.length === 0) break;
      seq = page.at(-1)!.seq;
      sum.sealed += page.length;
      yield textOf(page.map(sealedLine));
    }
    // The smallest id of a millisecond is not a valid UUID, so no row has this id.
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
    yield `${sum.end(this.keys.chain.first)}\n`;
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
