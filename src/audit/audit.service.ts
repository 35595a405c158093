import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '../platform/paging/page.js';
import type { AuditSubject } from './audit-entry.js';
import {
  type AuditFilter,
  AuditListRepository,
  type ListedEntry,
} from './audit-list.repository.js';
import { AuditVerifier, type Verification } from './chain/audit-verifier.js';

interface AuditQuery extends AuditFilter, PageRequest {
  /** Oldest first; otherwise newest first. */
  readonly ascending?: boolean;
}

export interface AuditRecord {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject: AuditSubject;
  readonly details: Readonly<Record<string, unknown>>;
  /** Hexadecimal; absent until the row is sealed. */
  readonly hash?: string;
}

@Injectable()
export class AuditService {
  constructor(
    private readonly records: AuditListRepository,
    private readonly verifier: AuditVerifier,
  ) {}

  async list({
    page,
    per_page,
    ascending = false,
    ...filter
  }: AuditQuery): Promise<Page<AuditRecord>> {
    const window = { offset: (page - 1) * per_page, limit: per_page, ascending };
    const [rows, total] = await Promise.all([
      this.records.page(filter, window),
      this.records.count(filter),
    ]);
    return { items: rows.map(recordOf), total };
  }

  async verify(): Promise<Verification> {
    return await this.verifier.verify();
  }
}

/** Parses a filter: `incident`, `incident:<id>` or an id. An id may contain colons. */
export function subjectFilter(text: string): NonNullable<AuditFilter['subject']> {
  const at = text.indexOf(':');
  return at === -1 ? { typeOrId: text } : { type: text.slice(0, at), id: text.slice(at + 1) };
}

function recordOf({ entry, hash }: ListedEntry): AuditRecord {
  return {
    id: entry.id,
    at: entry.at,
    actor: entry.actor,
    action: entry.action,
    subject: { type: entry.subject_type, id: entry.subject_id },
    details: entry.details,
    hash: hash?.toString('hex'),
  };
}
