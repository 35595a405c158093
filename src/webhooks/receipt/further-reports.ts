import { Injectable } from '@nestjs/common';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import type { InsertedIncident } from '../../incidents/incident-creation.js';
import {
  IncidentTimeline,
  type NewTimelineEntry,
} from '../../incidents/timeline/incident-timeline.js';
import { shownStart } from '../../platform/text.js';
import { type Incident, severityRises, type SourceStatus } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { Incidents } from '../../incidents/incidents.js';
import { IncidentReports } from '../../incidents/reports/incident-reports.js';
import { titleWithoutDetails } from '../../incidents/titles.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { Json } from '../reading/event-json.js';
import { incidentOf, type ReadEvent } from '../reading/read-events.js';
import { KnownSayings, saysOpen } from '../reading/news.js';
import { type Arrival, principalOf } from './receipt.js';

/** Timeline event of an update. The subject is the receipt. */
export const EVENT_UPDATED = 'event_updated';

const LEFT_RESOLVED = 'Stays resolved although the event says more: REOPEN_ON_UPDATE is off.';

const SYSTEM = 'system';

/** Stores later events of an incident as reports, and applies them to the incident in the caller's transaction. */
@Injectable()
export class FurtherReports {
  private readonly turns = new LoopTurns();

  constructor(
    private readonly incidents: Incidents,
    private readonly changes: IncidentsService,
    private readonly reports: IncidentReports,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
    private readonly settings: Settings,
  ) {}

  /** Adds the events of a body about one incident, in their order. A deleted incident does not change. */
  async add(
    tx: Tx,
    arrival: Arrival,
    events: readonly ReadEvent[],
    incidentId: string,
  ): Promise<void> {
    let incident = await this.incidents.lockForUpdate(tx, incidentId);
    if (!incident) return;
    const [newest] = (await this.reports.toJudge([incidentId], tx)).get(incidentId) ?? [];
    // Each text may be megabytes long, so each text is parsed in a separate turn of the event loop.
    const parse = (text: string) => this.turns.run(() => JSON.parse(text) as Json);
    const first = await parse(incident.raw_data);
    const latest = newest && (await parse(newest.raw_data));
    const known = await this.turns.run(() => new KnownSayings(first, latest));
    let triage: ReadEvent['incident']['triage'];
    for (const event of events) {
      const isNews = await this.turns.run(() =>
        known.add(JSON.parse(event.incident.raw_data) as Json),
      );
      const news = newsOf(incident, event, isNews);
      incident = await this.addOne(tx, arrival, event, incident, news);
      if (news) triage = event.incident.triage;
    }
    if (!triage) return;
    const payload = { ...triage, requested_by: principalOf(arrival.source), again: true };
    const subject = { type: 'incident', id: incidentId };
    await this.events.record(tx, { type: INCIDENT_EVENTS.triageWanted, subject, payload });
  }

  private async addOne(
    tx: Tx,
    { id, source }: Arrival,
    event: ReadEvent,
    before: Incident,
    news: News,
  ): Promise<Incident> {
    const incidentId = before.id;
    const by = principalOf(source);
    const about = { type: 'webhook_event', id };
    const { severity, fields, raw_data, title: reportedTitle } = event.incident;
    const report = { incident_id: incidentId, source, severity, webhook_event_id: id, raw_data };
    await this.reports.add(tx, report);

    const source_status = statusAfter(before, event);
    const rises = severityRises(before.severity, severity);
    const reopens = news === 'reopens' && this.settings.reopenOnUpdate;
    const wantsJudgement = news && (rises || event.overWord === undefined);
    const isOpen = before.status !== 'resolved' || reopens;
    const stays = wantsJudgement && isOpen && isCalmByPerson(before) && verdictStays(before);
    const reported = `${source}: ${shownStart(reportedTitle, 120)}, severity ${severity}.`;
    const adds = Object.keys(fields).filter((name) => before.fields[name] === undefined);

    const note = (entry: string, summary: string, actor = SYSTEM): NewTimelineEntry => {
      return { incidentId, event: entry, actor, summary, subject: about };
    };
    const more = adds.length > 0 ? ` It adds ${adds.join(', ')}.` : '';
    const sent = `${source} sent the event again with other content, severity ${severity}.${more}`;
    const entries = [
      note(EVENT_UPDATED, sent, by),
      ...unknownSeverityEntries(incidentId, by, event),
    ];
    if (source_status) {
      const state = source_status === 'resolved' ? `over (${event.overWord})` : 'open again';
      entries.push(
        note(`source_${source_status}`, `${source} says that its alert is ${state}.`, by),
      );
    }
    if (news === 'reopens' && !reopens) entries.push(note('update_of_resolved', LEFT_RESOLVED));
    if (stays) {
      const judge = before.verdict?.decided_by;
      entries.push(note('update_of_judged', `${source} reports more than ${judge} knew. ${stays}`));
    }
    await this.timeline.add(tx, ...entries);
    // News without a new field also changes the incident, so that `updated_at` and `incident.updated` report the news.
    if (!news && adds.length === 0 && !source_status) return before;
    // Makes one change, so that people get one message about the reopening and the severity.
    const wanted = {
      reopen: reopens || undefined,
      severity: rises ? severity : undefined,
      title: rises ? await this.titleOf(tx, event, incidentId) : undefined,
      fields,
      source_status,
    };
    const because = stays ? `${reported} ${stays}` : reported;
    const origin = { by: reopens ? SYSTEM : by, byPerson: false, about, because };
    return await this.changes.change(tx, before, wanted, origin);
  }

  /** Returns `undefined` if a person wrote the title of the incident, or if the title of the report has no details. */
  private async titleOf(tx: Tx, { incident }: ReadEvent, id: string): Promise<string | undefined> {
    const { incident_type, source, title } = incident;
    if (title === titleWithoutDetails(incident_type, source)) return undefined;
    return (await this.timeline.hasTitleByPerson(tx, id)) ? undefined : title;
  }
}

type News = 'reopens' | 'tells' | undefined;

/** A higher severity is always news. An alert that its tool has closed does not reopen an incident. */
function newsOf(
  { status, severity: before }: Incident,
  { incident: { severity }, overWord }: ReadEvent,
  saysMore: boolean,
): News {
  const rises = severityRises(before, severity);
  if (!rises && !saysMore) return undefined;
  return status === 'resolved' && (rises || overWord === undefined) ? 'reopens' : 'tells';
}

/** True if a person gave the verdict, and the verdict is not malicious. */
function isCalmByPerson({ verdict, verdict_by_person }: Incident): boolean {
  return verdict_by_person && verdict?.classification !== 'malicious';
}

function verdictStays({ verdict }: Incident): string {
  const judged = verdict ? `${verdict.decided_by} judged it ${verdict.classification}. ` : '';
  return `${judged}The verdict stays, and no playbook runs by itself, until a person judges again.`;
}

export function entriesOfNew(
  { id, created_by }: Pick<InsertedIncident, 'id' | 'created_by'>,
  event: ReadEvent,
): NewTimelineEntry[] {
  const entries = unknownSeverityEntries(id, created_by, event);
  const { incident, overWord } = event;
  if (overWord === undefined) return entries;
  const { source, severity } = incident;
  const counted = incidentOf(event).severity;
  const lowered =
    severity === counted ? '.' : `: its severity ${severity} counts as ${counted} here.`;
  const summary = `${source} says that its alert is over (${overWord})${lowered}`;
  const entry = { incidentId: id, event: 'source_resolved', actor: created_by, summary };
  return [...entries, entry];
}

/** Returns the status of the alert after a later event, or `undefined` if the event does not change the status. */
function statusAfter(
  { source_status }: Pick<Incident, 'source_status'>,
  { incident, overWord }: ReadEvent,
): SourceStatus | undefined {
  if (overWord !== undefined) return source_status === 'resolved' ? undefined : 'resolved';
  if (source_status !== 'resolved') return undefined;
  return saysOpen(JSON.parse(incident.raw_data) as Json) ? 'open' : undefined;
}

function unknownSeverityEntries(
  incidentId: string,
  actor: string,
  { unknownSeverity }: ReadEvent,
): NewTimelineEntry[] {
  if (unknownSeverity === undefined) return [];
  const summary = `The severity "${unknownSeverity}" is not known here, so it counts as medium.`;
  return [{ incidentId, event: 'severity_unknown', actor, summary }];
}
