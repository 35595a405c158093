import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Caller } from '../../platform/http/caller.js';
import { Clock } from '../../platform/clock.js';
import { firstIdAt } from '../../platform/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { AuditAttestationEntity } from '../audit.entity.js';
import { attestationOf, GENESIS, AuditKeys } from '../chain/audit-chain.js';
import { AuditChainRepository, type SealedRow } from '../chain/audit-chain.repository.js';
import {
  entryLine,
  type ExportLine,
  type HeaderLine,
  onPaper,
  signedEnd,
  signedHeader,
  textOf,
} from './audit-export-lines.js';
import { AuditExportRepository, type IdRange, PAGE_ROWS } from './audit-export.repository.js';
import { AuditLog } from '../audit-log.js';

/** Times in ISO 8601, inclusive. */
interface ExportRange {
  readonly from?: string;
  readonly to?: string;
}

interface Moment {
  readonly header: HeaderLine;
  readonly ids: IdRange;
  readonly snapshot: string;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const BEYOND_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Exports a part of the trail that can be verified without the service. */
@Injectable()
export class AuditExport {
  constructor(
    private readonly transactions: Transactions,
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly records: AuditExportRepository,
    private readonly keys: AuditKeys,
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** One line of JSON per entry. Pages are read as fast as the caller takes them. */
  async open(caller: Caller, range: ExportRange): Promise<Readable> {
    const from = range.from === undefined ? undefined : new Date(range.from);
    const to = range.to === undefined ? undefined : new Date(range.to);
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
    const moment = await this.momentOf(from, to);
    return Readable.from(this.pages(moment), { objectMode: true, highWaterMark: 1 });
  }

  private async momentOf(from?: Date, to?: Date): Promise<Moment> {
    const ids = {
      from: from ? firstIdAt(from.getTime()) : FIRST_ID,
      before: to ? firstIdAt(to.getTime() + 1) : BEYOND_IDS,
    };
    const { manager } = this.dataSource;
    const { lastSeal, now } = await this.chain.readEnd(manager);
    const seals = await this.records.sealsOf(ids, lastSeal.seq);
    const before = seals ? seals.first - 1n : lastSeal.seq;
    const hash = before === 0n ? GENESIS.hash : await this.chain.hashAt(manager, before);
    const header = signedHeader(this.keys.chain.first, {
      type: 'export',
      at: this.clock.now().toISOString(),
      from: from && from.toISOString(),
      to: to && to.toISOString(),
      // Empty if the seal was removed: the verification of the file reports a fault there.
      previous: onPaper({ seq: before, hash: hash ?? Buffer.alloc(0) }),
      head: onPaper(lastSeal),
      last_seq: String(seals?.last ?? before),
    });
    return { header, ids, snapshot: now.snapshot };
  }

  private async *pages({ header, ids, snapshot }: Moment): AsyncGenerator<string> {
    yield linesOf([header]);
    const last = BigInt(header.last_seq);
    let sealed = 0;
    for (let seq = BigInt(header.previous.seq); ;) {
      const { manager } = this.dataSource;
      const page = await this.chain.sealsAfter(manager, seq, { last, limit: PAGE_ROWS });
      if (page.length === 0) break;
      const first = seq + 1n;
      seq = page.at(-1)!.seq;
      sealed += page.length;
      const attestations = await this.chain.attestationsBetween(manager, first, seq);
      yield linesOf(page.map((seal) => this.sealedLine(seal, attestations)));
    }
    let unsealed = 0;
    const headSeq = BigInt(header.head.seq);
    // The least id of a millisecond is not a valid UUID, so no row has it.
    for (let afterId = ids.from; ;) {
      const page = await this.records.unsealedPage(afterId, ids.before, headSeq, snapshot);
      if (page.length === 0) break;
      afterId = page.at(-1)!.id;
      unsealed += page.length;
      yield linesOf(page.map((row) => entryLine(row)));
    }
    yield linesOf([signedEnd(this.keys.chain.first, header, { type: 'end', sealed, unsealed })]);
  }

  private sealedLine(
    sealed: SealedRow,
    attestations: readonly AuditAttestationEntity[],
  ): ExportLine {
    const seal = { ...onPaper(sealed), key_id: sealed.key_id };
    if (!sealed.row) return { type: 'removed', id: sealed.audit_id, seal };
    const attestation = attestationOf(attestations, sealed.seq, this.keys.attestations);
    return entryLine(sealed.row, seal, attestation);
  }
}

function linesOf(lines: readonly ExportLine[]): string {
  return lines.map((line) => `${textOf(line)}\n`).join('');
}
