import { Injectable } from '@nestjs/common';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import type { InsertedIncident } from '../../incidents/incident-creation.js';
import { type Incident, severityRises, type SourceStatus } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { IncidentReports } from '../../incidents/reports/incident-reports.js';
import {
  IncidentTimeline,
  type NewTimelineEntry,
} from '../../incidents/timeline/incident-timeline.js';
import { titleWithoutDetails } from '../../incidents/titles.js';
import { LoopTurns } from '../../platform/concurrency/semaphore.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import { shownStart } from '../../platform/text.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { Json } from '../reading/event-json.js';
import { KnownSayings, saysOpen } from '../reading/news.js';
import { incidentOf, type ReadEvent } from '../reading/read-events.js';
import { type Arrival, principalOf } from './receipt.js';

const SYSTEM = 'system';

const parse = (text: string) => JSON.parse(text) as Json;

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

  /** A deleted incident does not change. */
  async add(
    tx: Tx,
    arrival: Arrival,
    events: readonly ReadEvent[],
    incidentId: string,
  ): Promise<void> {
    let incident = await this.incidents.lockForUpdate(tx, incidentId);
    if (!incident) return;
    const { raw_data } = incident;
    const [newest] = (await this.reports.toJudge([incidentId], tx)).get(incidentId) ?? [];
    // Each text may have a megabyte, so the event loop gets a turn after each comparison.
    const known = await this.turns.run(
      () => new KnownSayings(parse(raw_data), newest && parse(newest.raw_data)),
    );
    let triage: ReadEvent['incident']['triage'];
    for (const event of events) {
      const saysMore = await this.turns.run(() => known.add(parse(event.incident.raw_data)));
      const news = newsOf(incident, event, saysMore);
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
    const { severity, fields, raw_data } = event.incident;
    const report = { incident_id: incidentId, source, severity, webhook_event_id: id, raw_data };
    await this.reports.add(tx, report);

    const source_status = statusAfter(before, event);
    const rises = severityRises(before.severity, severity);
    const reopens = news === 'reopens' && this.settings.reopenOnUpdate;
    const isOpen = before.status !== 'resolved' || reopens;
    const stays = news && isOpen && (rises || event.overWord === undefined) && verdictStays(before);
    const adds = Object.keys(fields).filter((name) => before.fields[name] === undefined);

    const entries: NewTimelineEntry[] = [];
    const note = (entry: string, summary: string, actor = SYSTEM) =>
      void entries.push({ incidentId, event: entry, actor, summary, subject: about });
    const more = adds.length > 0 ? ` It adds ${adds.join(', ')}.` : '';
    const sent = `${source} sent the event again with other content, severity ${severity}.${more}`;
    note('event_updated', sent, by);
    entries.push(...unknownSeverityEntries(incidentId, by, event));
    if (source_status) {
      const state = source_status === 'resolved' ? `over (${event.overWord})` : 'open again';
      note(`source_${source_status}`, `${source} says that its alert is ${state}.`, by);
    }
    if (news === 'reopens' && !reopens) {
      const left = 'Stays resolved although the event says more: REOPEN_ON_UPDATE is off.';
      note('update_of_resolved', left);
    }
    if (stays) {
      const judge = before.verdict?.decided_by;
      note('update_of_judged', `${source} reports more than ${judge} knew. ${stays}`);
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
    const reported = `${source}: ${shownStart(event.incident.title, 120)}, severity ${severity}.`;
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
function newsOf(before: Incident, { incident, overWord }: ReadEvent, saysMore: boolean): News {
  const rises = severityRises(before.severity, incident.severity);
  if (!rises && !saysMore) return undefined;
  return before.status === 'resolved' && (rises || overWord === undefined) ? 'reopens' : 'tells';
}

/** Returns a sentence if a person gave the verdict, and the verdict is not malicious. */
function verdictStays({ verdict, verdict_by_person }: Incident): string | undefined {
  if (!verdict_by_person || verdict?.classification === 'malicious') return undefined;
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
  return [...entries, { incidentId: id, event: 'source_resolved', actor: created_by, summary }];
}

function statusAfter(
  { source_status }: Pick<Incident, 'source_status'>,
  { incident, overWord }: ReadEvent,
): SourceStatus | undefined {
  if (overWord !== undefined) return source_status === 'resolved' ? undefined : 'resolved';
  return source_status === 'resolved' && saysOpen(parse(incident.raw_data)) ? 'open' : undefined;
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
