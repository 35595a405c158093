import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { requireApprovalLevel } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';
import { Clock } from '../platform/clock.js';
import { NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { type IfMatchCondition, requireMatch } from '../platform/http/etag.js';
import { isUuid } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { Settings } from '../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { DomainEvents } from '../platform/jobs/events/domain-events.js';
import {
  type ChangeOrigin,
  applyChange,
  type IncidentChange,
  isNoLongerCritical,
  requireMeantReopening,
} from './incident-changes.js';
import { IncidentCreation } from './incident-creation.js';
import { IncidentEndings, type Withdrawn } from './incident-endings.js';
import { auditOfChange, deletionEvent, INCIDENT_EVENTS, eventsOfChange } from './change-records.js';
import { fieldsOfRawData } from './incident-fields.js';
import { IncidentRepository } from './records/incident.repository.js';
import type {
  CreatedIncident,
  Incident,
  IncidentSummary,
  ListedIncident,
  LockedIncident,
  NewIncident,
} from './incident.js';
import type { IncidentListRequest } from './listing/incident-list.js';
import { rawDataErrors, rawDataJson } from './raw-data-rules.js';
import { incidentTitle } from './title-rules.js';
import { type IncidentReport, IncidentReports } from './reports/incident-reports.js';
import { timelineOfChange } from './timeline/change-entries.js';
import { IncidentTimeline } from './timeline/incident-timeline.js';
import type { TimelineEntry, TimelineRequest, TimelineSubject } from './timeline/timeline-entry.js';

export interface WantedIncident extends Omit<NewIncident, 'rawData' | 'fields' | 'title'> {
  /** Without one, it gets a title from its type and raw data. */
  readonly title?: string;
  readonly rawData: Readonly<Record<string, unknown>>;
}

/** What becomes of actions and runs that wait on an incident that is closed. */
export const PENDING_CHOICES = ['keep', 'withdraw'] as const;
export type PendingChoice = (typeof PENDING_CHOICES)[number];

export interface SettledPending {
  /** Of an incident that was closed and keeps what waits: actions that wait for approval. */
  readonly pendingActions?: number;
  readonly withdrawn?: Withdrawn;
}

export interface ChangedIncident extends SettledPending {
  readonly incident: Incident;
}

@Injectable()
export class IncidentsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly creation: IncidentCreation,
    private readonly incidents: IncidentRepository,
    private readonly timeline: IncidentTimeline,
    private readonly reports: IncidentReports,
    private readonly endings: IncidentEndings,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  async create(
    caller: Principal,
    wanted: WantedIncident,
    idempotency: Participant<CreatedIncident>,
  ): Promise<CreatedIncident> {
    const rawData = rawDataJson(wanted.rawData);
    const errors = rawDataErrors(wanted.incidentType, wanted.rawData, rawData);
    if (errors.length > 0) throw new ValidationError(errors);
    const { incidentType, source } = wanted;
    const title = wanted.title ?? incidentTitle(incidentType, wanted.rawData, source);
    const fields = fieldsOfRawData(wanted.rawData);
    return await this.creation.create(caller, { ...wanted, rawData, fields, title }, idempotency);
  }

  async list(request: IncidentListRequest): Promise<Page<ListedIncident>> {
    return await this.incidents.list(request);
  }

  async get(id: string): Promise<Incident> {
    return found(isUuid(id) ? await this.incidents.findById(id) : undefined);
  }

  async timelineOf(id: string, request: TimelineRequest): Promise<Page<TimelineEntry>> {
    requireId(id);
    return await this.timeline.page(id, request);
  }

  /** `INC-2026-0042`, as it is shown. */
  idOfNumber(number: string): Promise<string | undefined> {
    return this.incidents.idOfNumber(number);
  }

  async reportsOf(id: string, request: PageRequest): Promise<Page<IncidentReport>> {
    const incident = await this.get(id);
    return await this.reports.page(incident.id, request);
  }

  async update(
    caller: Principal,
    id: string,
    wanted: IncidentChange,
    condition: IfMatchCondition,
    pending: PendingChoice = 'keep',
  ): Promise<ChangedIncident> {
    requireId(id);
    return await this.transactions.run<ChangedIncident>(async (tx) => {
      const before = found(await this.incidents.lockForUpdate(tx, id));
      requireMatch(condition, before.version);
      requireMeantReopening(before, wanted, condition);
      // A lower severity lowers the approval level of the incident's actions: only who may approve them may do it.
      if (this.settings.approvalRaiseOnCritical && isNoLongerCritical(before, wanted)) {
        requireApprovalLevel(caller, 'senior');
      }
      const incident = await this.change(tx, before, wanted, { by: caller.name, byPerson: true });
      if (wanted.status !== 'resolved') return { incident };
      return { incident, ...(await this.settlePending(tx, incident, caller.name, pending)) };
    }, caller);
  }

  /** What waits on an incident that is closed is over for whoever says so; rejecting needs no approval level. */
  private async settlePending(
    tx: Tx,
    { id, incidentNumber }: Incident,
    by: string,
    choice: PendingChoice,
  ): Promise<SettledPending> {
    if (choice === 'keep') {
      return { pendingActions: (await this.endings.countPendingActions(tx, id)) || undefined };
    }
    const reason = `${by} closed ${incidentNumber}.`;
    return { withdrawn: await this.endings.withdraw(tx, id, by, reason) };
  }

  async delete(caller: Principal, id: string, condition: IfMatchCondition): Promise<void> {
    requireId(id);
    await this.transactions.run(async (tx) => {
      const incident = found(await this.incidents.lockForUpdate(tx, id));
      requireMatch(condition, incident.version);
      await this.endings.delete(tx, id);
      await this.incidents.hide(tx, id, this.clock.now());
      await this.audit.record(tx, {
        actor: caller.name,
        action: INCIDENT_EVENTS.deleted,
        subject: { type: 'incident', id },
        details: { incident_number: incident.incidentNumber, version: incident.version },
      });
      await this.events.record(tx, deletionEvent(incident, caller.name));
    }, caller);
  }

  /** By their ids, those of deleted incidents, too. */
  async numbersOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await this.incidents.numbersOf(tx, ids);
  }

  /** By their ids, without those of deleted incidents. */
  async summariesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, IncidentSummary>> {
    return await this.incidents.summariesOf(tx, ids);
  }

  /** Nobody changes the incident until the transaction ends. Undefined when there is none, or it was deleted. */
  async lockForShare(tx: Tx, id: string): Promise<LockedIncident | undefined> {
    return isUuid(id) ? await this.incidents.lockForShare(tx, id) : undefined;
  }

  /** For `change` later in the same transaction. */
  async lockForUpdate(tx: Tx, id: string): Promise<Incident | undefined> {
    return isUuid(id) ? await this.incidents.lockForUpdate(tx, id) : undefined;
  }

  /**
   * Changes an incident that the caller has locked for update, with what belongs to a change: entries of the timeline,
   * audit records and events. `about` is what caused the change, such as a triage run, and `askedBy` who asked for that:
   * the timeline names them, also where somebody else decided.
   */
  async change(
    tx: Tx,
    before: Incident,
    wanted: IncidentChange,
    change: Omit<ChangeOrigin, 'at'> & {
      readonly about?: TimelineSubject;
      readonly askedBy?: string;
    },
  ): Promise<Incident> {
    const after = applyChange(before, wanted, { ...change, at: this.clock.now() });
    await this.incidents.update(tx, after);
    const { askedBy = change.by } = change;
    await this.timeline.add(tx, ...timelineOfChange(before, after, askedBy, change.about));
    await this.audit.recordAll(tx, auditOfChange(before, after, wanted, change.by));
    await this.events.record(tx, ...eventsOfChange(before, after, askedBy));
    return after;
  }
}

function found(incident: Incident | undefined): Incident {
  if (!incident) throw new NotFoundError('Incident');
  return incident;
}

function requireId(id: string): void {
  if (!isUuid(id)) throw new NotFoundError('Incident');
}
