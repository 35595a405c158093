import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { requireVersion } from '../audit/changes/version-history.js';
import { type Principal, requireApprovalLevel } from '../auth/principal.js';
import { Clock } from '../platform/clock.js';
import { Settings } from '../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { ValidationError } from '../platform/errors/app-error.js';
import type { IfMatchCondition } from '../platform/http/etag.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import {
  auditOfChange,
  deletionEvent,
  eventsOfChange,
  INCIDENT_EVENTS,
  timelineOfChange,
} from './change-records.js';
import type { IncidentDto, IncidentInputDto } from './dto/incident.dto.js';
import type { CreatedIncident, Incident, PendingChoice } from './incident.js';
import {
  applyChange,
  CHANGED_FIELDS,
  type ChangeOrigin,
  changesBetween,
  type IncidentChange,
  isNoLongerCritical,
  requireExplicitReopening,
} from './incident-changes.js';
import { IncidentCreation } from './incident-creation.js';
import { fieldsOfRawData } from './incident-fields.js';
import { rawDataErrors } from './raw-data-rules.js';
import { oneLine } from './raw-data-text.js';
import { Incidents, requireFound } from './incidents.js';
import { IncidentTimeline, type TimelineSubject } from './timeline/incident-timeline.js';
import { incidentTitle } from './titles.js';

/** Work of another module, such as actions. It ends in the transaction that deletes or closes the incident. */
interface EndingParticipant {
  readonly end: (tx: Tx, incidentId: string, by: string, reason: string) => Promise<number>;
  /** Name of the work in the response to a change that closes the incident. If absent, only a deletion ends the work. */
  readonly pending?: 'actions' | 'runs';
  /** Counts the items that wait for a person. */
  readonly count?: (tx: Tx, incidentId: string) => Promise<number>;
}

type SettledPending = Pick<IncidentDto, 'pending_actions' | 'withdrawn'>;

@Injectable()
export class IncidentsService {
  private readonly endings: EndingParticipant[] = [];

  constructor(
    private readonly transactions: Transactions,
    private readonly creation: IncidentCreation,
    private readonly incidents: Incidents,
    private readonly timeline: IncidentTimeline,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Call in `onModuleInit`. `end` has the incident locked for update, so that no claim or decision runs meanwhile. */
  registerEnding(participant: EndingParticipant): void {
    this.endings.push(participant);
  }

  async create(
    caller: Principal,
    wanted: IncidentInputDto,
    idempotency: Participant<CreatedIncident>,
  ): Promise<CreatedIncident> {
    const raw_data = JSON.stringify(wanted.raw_data);
    const errors = rawDataErrors(wanted.incident_type, wanted.raw_data, raw_data);
    if (errors.length > 0) throw new ValidationError(errors);
    const { incident_type, source } = wanted;
    const title =
      wanted.title === undefined
        ? incidentTitle(incident_type, wanted.raw_data, source)
        : oneLine(wanted.title);
    const fields = fieldsOfRawData(wanted.raw_data);
    return await this.creation.create(caller, { ...wanted, raw_data, fields, title }, idempotency);
  }

  async update(
    caller: Principal,
    id: string,
    wanted: IncidentChange,
    condition: IfMatchCondition,
    pending: PendingChoice = 'keep',
  ): Promise<Incident & SettledPending> {
    return await this.transactions.run<Incident & SettledPending>(async (tx) => {
      const before = requireFound(await this.incidents.lockForUpdate(tx, id));
      await this.requireMatch(tx, condition, before);
      requireExplicitReopening(before, wanted, condition);
      // A lower severity can lower the approval level of actions, so the caller needs the higher approval level.
      if (this.settings.approvalRaiseOnCritical && isNoLongerCritical(before, wanted)) {
        requireApprovalLevel(caller, 'senior');
      }
      const incident = await this.change(tx, before, wanted, { by: caller.name, byPerson: true });
      if (wanted.status !== 'resolved') return incident;
      return { ...incident, ...(await this.settle(tx, incident, caller.name, pending)) };
    }, caller);
  }

  async delete(caller: Principal, given: string, condition: IfMatchCondition): Promise<void> {
    await this.transactions.run(async (tx) => {
      const incident = requireFound(await this.incidents.lockForUpdate(tx, given));
      const { id } = incident;
      await this.requireMatch(tx, condition, incident);
      for (const { end } of this.endings) await end(tx, id, 'system', 'Its incident was deleted.');
      await this.incidents.hide(tx, id, this.clock.now());
      await this.audit.record(tx, {
        actor: caller.name,
        action: INCIDENT_EVENTS.deleted,
        subject: { type: 'incident', id },
        details: { incident_number: incident.incident_number, version: incident.version },
      });
      await this.events.record(tx, deletionEvent(incident, caller.name));
    }, caller);
  }

  /** Needs no approval level, because a withdrawal only rejects. Ends modules in their order: actions before runs. */
  private async settle(
    tx: Tx,
    { id, incident_number }: Incident,
    by: string,
    choice: PendingChoice,
  ): Promise<SettledPending> {
    const withdrawn = { actions: 0, runs: 0 };
    let waiting = 0;
    for (const { end, pending, count } of this.endings) {
      if (pending && choice === 'withdraw') {
        withdrawn[pending] = await end(tx, id, by, `${by} closed ${incident_number}.`);
      } else waiting += (await count?.(tx, id)) ?? 0;
    }
    return choice === 'keep' ? { pending_actions: waiting || undefined } : { withdrawn };
  }

  private async requireMatch(
    tx: Tx,
    condition: IfMatchCondition,
    incident: Incident,
  ): Promise<void> {
    const { id, version, updated_at: updatedAt } = incident;
    await requireVersion(tx, condition, {
      ...{ type: 'incident', id, version, revision: version, updatedAt },
      values: Object.fromEntries(CHANGED_FIELDS.map((name) => [name, incident[name] ?? undefined])),
    });
  }

  /** Changes an incident that the caller has locked for update, and adds timeline entries, audit records and events. */
  async change(
    tx: Tx,
    before: Incident,
    wanted: IncidentChange,
    origin: RecordedChange['origin'],
  ): Promise<Incident> {
    return (await this.changeAll(tx, [{ before, wanted, origin }]))[0]!;
  }

  async changeAll(tx: Tx, changes: readonly RecordedChange[]): Promise<Incident[]> {
    const after: Incident[] = [];
    for (const change of changes) after.push(await this.recordChange(tx, change));
    const changed = after.filter((incident, place) => incident !== changes[place]!.before);
    if (changed.length > 0) await this.incidents.updateAll(tx, changed);
    return after;
  }

  private async recordChange(
    tx: Tx,
    { before, wanted, origin }: RecordedChange,
  ): Promise<Incident> {
    const { by, askedBy = by, byPerson, about, because } = origin;
    const after = applyChange(before, wanted, { by, byPerson, at: this.clock.now() });
    const changes = changesBetween(before, after, CHANGED_FIELDS);
    // The status triaged without a verdict may change only `triaged_at`, which is not in `changes`.
    const isFirstTriage = before.triaged_at === null && after.triaged_at !== null;
    // A change that no person made, such as a report of a tool, is always recorded, even if no field changes.
    if (byPerson && changes.length === 0 && !isFirstTriage) return before;
    await this.timeline.add(tx, ...timelineOfChange(before, after, changes, askedBy, about));
    await this.audit.record(tx, ...auditOfChange(before, after, changes, by));
    await this.events.record(tx, ...eventsOfChange(before, after, changes, askedBy, because));
    return after;
  }
}

/** `about`: cause of the change, such as a triage run. `askedBy` requested the cause, and the timeline names it. */
export interface RecordedChange {
  readonly before: Incident;
  readonly wanted: IncidentChange;
  readonly origin: Omit<ChangeOrigin, 'at'> & {
    readonly about?: TimelineSubject;
    readonly askedBy?: string;
    /** Report of the tool that made the change. Messages about the change quote this text. */
    readonly because?: string;
  };
}
