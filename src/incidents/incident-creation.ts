import { Injectable } from '@nestjs/common';
import type { AuditEntry } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Principal } from '../auth/principal.js';
import { Clock } from '../common/clock.js';
import { newId } from '../common/ids.js';
import { type Participant, Transactions, type Tx } from '../database/transactions.js';
import { WriteBatcher } from '../database/write-batcher.js';
import { eventOf } from '../jobs/events/domain-event.js';
import { DomainEvents } from '../jobs/events/domain-events.js';
import { eventRows } from '../jobs/events/event-outbox.js';
import { Metrics } from '../metrics/metrics.js';
import { INCIDENT_EVENTS, newsOf } from './incident-news.js';
import { incidentNumber } from './incident-number.js';
import { IncidentWriteRepository, type InsertedIncident } from './incident-write.repository.js';
import { type CreatedIncident, KNOWN_INCIDENT_TYPES, type NewIncident } from './incident.js';

interface Wanted {
  readonly caller: Principal;
  readonly incident: NewIncident;
}

/** The hot path: creations that arrive together share one transaction, and one statement in it. */
@Injectable()
export class IncidentCreation {
  private readonly batches = new WriteBatcher<Wanted, CreatedIncident>((rows) =>
    this.createTogether(rows),
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly writes: IncidentWriteRepository,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {}

  /** A transaction of its own when something else takes part in it, such as the answer kept for an Idempotency-Key. */
  async create(
    caller: Principal,
    incident: NewIncident,
    keep: Participant<CreatedIncident>,
  ): Promise<CreatedIncident> {
    if (!keep.begin && !keep.finish) return await this.batches.write({ caller, incident });
    return await this.transactions.run<CreatedIncident>(
      async (tx) => (await this.insertAll(tx, caller.name, [incident]))[0]!,
      caller,
      keep,
    );
  }

  /** For modules that create incidents in transactions of their own. The results are in the order of the incidents. */
  async insertAll(
    tx: Tx,
    createdBy: string,
    incidents: readonly NewIncident[],
  ): Promise<CreatedIncident[]> {
    return await this.insert(
      tx,
      incidents.map((incident) => this.rowOf(incident, createdBy)),
    );
  }

  /** A caller whose key was revoked meanwhile fails the batch, which then is tried row by row: only theirs fail. */
  private async createTogether(rows: readonly Wanted[]): Promise<CreatedIncident[]> {
    return await this.transactions.run<CreatedIncident[]>(
      (tx) =>
        this.insert(
          tx,
          rows.map(({ caller, incident }) => this.rowOf(incident, caller.name)),
        ),
      ...distinctCallers(rows),
    );
  }

  private rowOf(incident: NewIncident, createdBy: string): InsertedIncident {
    const createdAt = this.clock.now();
    return { ...incident, id: newId(createdAt.getTime()), createdAt, createdBy };
  }

  private async insert(tx: Tx, rows: readonly InsertedIncident[]): Promise<CreatedIncident[]> {
    const news = rows.map((row) =>
      eventOf(newsOf(INCIDENT_EVENTS.created, row.id, row), row.createdAt),
    );
    const numbers = await this.writes.insertAll(
      tx,
      rows,
      eventRows(news),
      this.audit.valuesOfAll(rows.map(auditEntryOf)),
    );
    this.transactions.onCommit(tx, () => {
      this.events.wake();
      for (const row of rows) this.count(row);
    });
    return rows.map(({ id, createdAt }) => ({
      id,
      incidentNumber: incidentNumber(numbers.get(id)!, createdAt),
      status: 'open',
      createdAt,
    }));
  }

  private count({ incidentType, severity }: NewIncident): void {
    const known = KNOWN_INCIDENT_TYPES.some((type) => type === incidentType);
    this.metrics.incidents.inc({ type: known ? incidentType : 'other', severity });
  }
}

function auditEntryOf(row: InsertedIncident): AuditEntry {
  const { incidentType, severity, source } = row;
  return {
    actor: row.createdBy,
    action: INCIDENT_EVENTS.created,
    subject: { type: 'incident', id: row.id },
    details: { incident_type: incidentType, severity, source },
  };
}

/** One of each key and session: they all were let in for the same role. */
function distinctCallers(rows: readonly Wanted[]): Principal[] {
  const callers = rows.map(({ caller }) => caller);
  return [...new Map(callers.map((caller) => [caller.sessionId ?? caller.id, caller])).values()];
}
