// SQL: `on conflict`, and locks in a fixed order, so that concurrent transactions neither fail nor deadlock.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import { IncidentCreation, type InsertedIncident } from '../../incidents/incident-creation.js';
import { type Incident, severityRises } from '../../incidents/incident.js';
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
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { shownStart } from '../../platform/text.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { type WebhookEventEntity, WebhookSeenEventEntity } from '../webhook-events.js';
import type { Json } from '../reading/event-json.js';
import { newsAfter, saysOpen } from '../reading/news.js';
import type { ReadEvent } from '../reading/read-events.js';

export type Arrival = Pick<WebhookEventEntity, 'id' | 'source' | 'body_hash' | 'received_at'> & {
  readonly body: Buffer;
};

export interface SettledEvent {
  readonly outcome: 'created' | 'updated' | 'duplicate';
  readonly incident_id: string;
  readonly incident_number: string;
}

/** `event_id` is the id of the first webhook event that contained the event. */
export type Settled = SettledEvent & Pick<WebhookSeenEventEntity, 'event_id'>;

export const principalOf = (source: string): string => `webhook:${source}`;

/** Claims events with their incident ids. The first state of an event creates its incident. Waits for other claims. */
const CLAIM: Statement = {
  name: 'webhook_seen_events_claim',
  text: `
    insert into webhook_seen_events (source, event_key, content_hashes, event_id, incident_id)
    select $1, event_key, array[content_hash], $2, incident_id
      from unnest($3::bytea[], $4::bytea[], $5::uuid[])
        with ordinality as claim (event_key, content_hash, incident_id, position)
     order by event_key, position
    on conflict do nothing
    returning incident_id`,
};

/** Maximum remembered contents per event. A sender that increments a counter adds a content with each request. */
const MOST_CONTENTS = 100;

/** Finds the earlier webhook event with the same bytes among the first requests and the latest updates of these events. */
const FIND_SAME_BYTES: Statement = {
  name: 'webhook_events_same_bytes',
  text: `
    select id from webhook_events
     where body_hash = $1 and body is not null and id <> $2 and id in (
       select unnest($3::uuid[]) union all
       (select webhook_event_id from incident_reports where incident_id = any($4::uuid[]) order by id desc limit 1000))
     order by id limit 1`,
};

/** A new event creates an incident. New content of a known event becomes a report. Known content changes nothing. */
@Injectable()
export class Settlement {
  private readonly turns = new LoopTurns();

  constructor(
    private readonly statements: Statements,
    private readonly creation: IncidentCreation,
    private readonly incidents: Incidents,
    private readonly changes: IncidentsService,
    private readonly reports: IncidentReports,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
    private readonly settings: Settings,
  ) {}

  async settle(tx: Tx, arrival: Arrival, events: readonly ReadEvent[]): Promise<Settled[]> {
    if (events.length === 0) return [];
    const { id, source } = arrival;
    const by = principalOf(source);
    const rows = events.map(({ incident }) => this.creation.prepare(by, incident));
    const claimed = await this.statements.rowsIn<{ incident_id: string }>(tx, CLAIM, [
      source,
      id,
      events.map(({ key }) => key),
      events.map(({ contentHash }) => contentHash),
      rows.map((row) => row.id),
    ]);
    const ids = new Set(claimed.map(({ incident_id }) => incident_id));
    const settled = new Map<ReadEvent, Omit<Settled, 'incident_number'>>();
    for (const [index, { id: incident_id }] of rows.entries()) {
      if (!ids.has(incident_id)) continue;
      settled.set(events[index]!, { outcome: 'created', incident_id, event_id: id });
    }
    const fresh = rows.filter((row) => ids.has(row.id));
    const entries = [...settled.keys()].flatMap((event, at) => entriesOfNew(fresh[at]!, event));
    await this.creation.insertRows(tx, fresh);
    await this.timeline.add(tx, ...entries);

    const repeated = events.filter((event) => !settled.has(event));
    const byKey = Map.groupBy(repeated, ({ key }) => nameOf(key));
    for (const known of await this.lockSeen(tx, source, repeated)) {
      const { incident_id, event_id, event_key } = known;
      const contents = new Set(known.content_hashes.map(nameOf));
      const updates = byKey.get(nameOf(event_key))!.filter((event) => {
        const content = nameOf(event.contentHash);
        const isNew = !contents.has(content);
        contents.add(content);
        settled.set(event, { outcome: isNew ? 'updated' : 'duplicate', incident_id, event_id });
        return isNew;
      });
      if (updates.length === 0) continue;
      const added = updates.map(({ contentHash }) => contentHash);
      const content_hashes = [...known.content_hashes, ...added].slice(-MOST_CONTENTS);
      await tx.update(WebhookSeenEventEntity, { source, event_key }, { content_hashes });
      await this.addReports(tx, arrival, updates, incident_id);
    }
    const states = await this.incidents.statesOf(tx, idsOf([...settled.values()]));
    return events.map((event) => {
      const { incident_number } = states.get(settled.get(event)!.incident_id)!;
      return { ...settled.get(event)!, incident_number };
    });
  }

  /** Locks the known events. Returns them in the order of their incidents, so that concurrent bodies do not deadlock. */
  private async lockSeen(tx: Tx, source: string, events: readonly ReadEvent[]) {
    if (events.length === 0) return [];
    const seen = await tx.find(WebhookSeenEventEntity, {
      where: { source, event_key: Any(events.map(({ key }) => key)) },
      order: { event_key: 'asc' },
      lock: { mode: 'for_no_key_update' },
    });
    return seen.sort((one, other) => (one.incident_id < other.incident_id ? -1 : 1));
  }

  /** Returns the end of the webhook event. `body` is null if an earlier webhook event has the same bytes. */
  async endOf(tx: Tx, { id, body_hash }: Arrival, events: readonly Settled[]) {
    const outcomes = new Set(events.map(({ outcome }) => outcome));
    const isNew = outcomes.has('created') || events.length === 0;
    const status = isNew ? 'processed' : outcomes.has('updated') ? 'updated' : 'duplicate';
    const incident_ids = idsOf(events);
    const end = { status, error: null, incident_ids, duplicate_of: null, body: undefined } as const;
    if (status !== 'duplicate') return end;
    const first = events.map(({ event_id }) => event_id);
    const values = [body_hash, id, first, incident_ids];
    const [same] = await this.statements.rowsIn<{ id: string }>(tx, FIND_SAME_BYTES, values);
    const duplicate_of = same?.id ?? first.find((other) => other !== id) ?? null;
    return { ...end, duplicate_of, body: same && null };
  }

  /** Stores later events of an incident as reports, and applies them to the incident. A deleted incident does not change. */
  private async addReports(tx: Tx, arrival: Arrival, events: readonly ReadEvent[], id: string) {
    let incident = await this.incidents.lockForUpdate(tx, id);
    if (!incident) return;
    const { raw_data } = incident;
    const [newest] = (await this.reports.toJudge([id], tx)).get(id) ?? [];
    // The raw data of an event may have a megabyte, so each comparison is a separate turn of the event loop.
    const saysMore = await this.turns.run(() =>
      newsAfter(parse(raw_data), newest && parse(newest.raw_data)),
    );
    let triage: ReadEvent['incident']['triage'];
    for (const event of events) {
      const says = await this.turns.run(() => saysMore(parse(event.incident.raw_data)));
      const isNews = says || severityRises(incident.severity, event.severity);
      incident = await this.addReport(tx, arrival, event, incident, isNews);
      if (isNews) triage = event.incident.triage;
    }
    if (!triage) return;
    const payload = { ...triage, requested_by: principalOf(arrival.source), again: true };
    const subject = { type: 'incident', id };
    await this.events.record(tx, { type: INCIDENT_EVENTS.triageWanted, subject, payload });
  }

  private async addReport(
    tx: Tx,
    { id, source }: Arrival,
    event: ReadEvent,
    before: Incident,
    isNews: boolean,
  ): Promise<Incident> {
    const by = principalOf(source);
    const about = { type: 'webhook_event', id };
    const { severity, overWord } = event;
    const { fields, raw_data, title } = event.incident;
    const report = { incident_id: before.id, source, severity, webhook_event_id: id, raw_data };
    await this.reports.add(tx, report);

    const rises = severityRises(before.severity, severity);
    // A report of a closed alert counts only if the severity rises.
    const counts = isNews && (rises || overWord === undefined);
    const reopens = counts && before.status === 'resolved' && this.settings.reopenOnUpdate;
    const staysResolved = before.status === 'resolved' && !reopens;
    const { verdict, verdict_by_person } = before;
    const isJudged = verdict_by_person && verdict?.classification !== 'malicious';
    const judged = verdict ? `${verdict.decided_by} judged it ${verdict.classification}. ` : '';
    const stays =
      counts && !staysResolved && isJudged
        ? `${judged}The verdict stays, and no playbook runs by itself, until a person judges again.`
        : undefined;
    const wasOver = before.source_status === 'resolved';
    const opens = wasOver && overWord === undefined && saysOpen(parse(raw_data));
    const ends = !wasOver && overWord !== undefined;
    const source_status = ends ? 'resolved' : opens ? 'open' : undefined;
    const adds = Object.keys(fields).filter((name) => before.fields[name] === undefined);

    const entries: NewTimelineEntry[] = [];
    const note = (entry: string, summary: string, actor = 'system') =>
      void entries.push({ incidentId: before.id, event: entry, actor, summary, subject: about });
    const more = adds.length > 0 ? ` It adds ${adds.join(', ')}.` : '';
    const sent = `${source} sent the event again with other content, severity ${severity}.${more}`;
    note('event_updated', sent, by);
    entries.push(...unknownSeverityEntries(before.id, by, event));
    if (source_status) {
      const state = ends ? `over (${overWord})` : 'open again';
      note(`source_${source_status}`, `${source} says that its alert is ${state}.`, by);
    }
    if (counts && staysResolved) {
      const left =
        'The incident stays resolved although the event has new information, because REOPEN_ON_UPDATE is off.';
      note('update_of_resolved', left);
    }
    if (stays) {
      note('update_of_judged', `${source} reports more than ${verdict?.decided_by} knew. ${stays}`);
    }
    await this.timeline.add(tx, ...entries);
    // News also counts as a change if no field is new, so that `updated_at` and `incident.updated` report the news.
    if (!isNews && adds.length === 0 && !source_status) return before;
    // One change for all fields, so that people get only one message about the reopening and the severity.
    const wanted = {
      reopen: reopens || undefined,
      severity: rises ? severity : undefined,
      title: rises ? await this.titleOf(tx, event, before.id) : undefined,
      fields,
      source_status,
    } as const;
    const reported = `${source}: ${shownStart(title, 120)}, severity ${severity}.`;
    const because = stays ? `${reported} ${stays}` : reported;
    const origin = { by: reopens ? 'system' : by, byPerson: false, about, because };
    return await this.changes.change(tx, before, wanted, origin);
  }

  /** Returns the new title; `undefined` if a person wrote the present title, or if the new title has no details. */
  private async titleOf(tx: Tx, { incident }: ReadEvent, id: string): Promise<string | undefined> {
    const { incident_type, source, title } = incident;
    if (title === titleWithoutDetails(incident_type, source)) return undefined;
    return (await this.timeline.hasTitleByPerson(tx, id)) ? undefined : title;
  }
}

export function entriesOfNew({ id, created_by }: InsertedIncident, event: ReadEvent) {
  const entries = unknownSeverityEntries(id, created_by, event);
  const { incident, severity, overWord } = event;
  if (overWord === undefined) return entries;
  const counted = `: its severity ${severity} counts as ${incident.severity} here.`;
  const lowered = severity === incident.severity ? '.' : counted;
  const summary = `${incident.source} says that its alert is over (${overWord})${lowered}`;
  return [...entries, { incidentId: id, event: 'source_resolved', actor: created_by, summary }];
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

export const idsOf = (events: readonly Pick<SettledEvent, 'incident_id'>[]): string[] => [
  ...new Set(events.map(({ incident_id }) => incident_id)),
];

const parse = (text: string) => JSON.parse(text) as Json;

const nameOf = (bytes: Buffer): string => bytes.toString('base64');
