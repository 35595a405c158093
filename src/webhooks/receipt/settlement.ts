// SQL: `on conflict`, and locks in a fixed order, so that concurrent transactions neither fail nor deadlock.
import { Injectable } from '@nestjs/common';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import { IncidentCreation, type InsertedIncident } from '../../incidents/incident-creation.js';
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
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { shownStart } from '../../platform/text.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import type { WebhookEventEntity, WebhookSeenEventEntity } from '../events/webhook-event.js';
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

export interface SettledEvents {
  readonly events: readonly SettledEvent[];
  /** Earlier request that all events repeat: the request with the same bytes, or the first with the first event. */
  readonly repeats?: { readonly id: string; readonly hasBytes: boolean };
}

export const principalOf = (source: string): string => `webhook:${source}`;

/** Returns the changes of a settled webhook event. `body` is null if an earlier webhook event has the same bytes. */
export function endOf({ events, repeats }: SettledEvents) {
  const outcomes = new Set(events.map(({ outcome }) => outcome));
  const isNew = outcomes.has('created') || events.length === 0;
  const status = isNew ? 'processed' : outcomes.has('updated') ? 'updated' : 'duplicate';
  const earlier = status === 'duplicate' ? repeats : undefined;
  const body = earlier?.hasBytes ? null : undefined;
  const incident_ids = [...new Set(events.map(({ incident_id }) => incident_id))];
  return { status, error: null, incident_ids, duplicate_of: earlier?.id ?? null, body } as const;
}

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

const LOCK_SEEN: Statement = {
  name: 'webhook_seen_events_lock',
  text: `
    select event_key, content_hashes, event_id, incident_id from webhook_seen_events
     where source = $1 and event_key = any($2::bytea[]) order by event_key for no key update`,
};

/** Maximum remembered contents per event. A sender that increments a counter adds a content with each request. */
const MOST_CONTENTS = 100;

const ADD_CONTENTS: Statement = {
  name: 'webhook_seen_events_add_contents',
  text: `
    update webhook_seen_events
       set content_hashes = (content_hashes || $3::bytea[])[greatest(1, cardinality(content_hashes) + cardinality($3::bytea[]) + 1 - ${MOST_CONTENTS}):]
     where source = $1 and event_key = $2`,
};

/** Maximum reports of incidents whose webhook events are compared by their bytes. */
const UPDATES_COMPARED = 1_000;

/** Finds the earlier webhook event with the same bytes among the first requests and the updates of these events. */
const FIND_SAME_BYTES: Statement = {
  name: 'webhook_events_same_bytes',
  text: `
    select id from webhook_events
     where body_hash = $1 and body is not null and id <> $2 and id in (
       select unnest($3::uuid[]) union all
       (select webhook_event_id from incident_reports where incident_id = any($4::uuid[]) order by id desc limit ${UPDATES_COMPARED}))
     order by id limit 1`,
};

type SeenEvent = Omit<WebhookSeenEventEntity, 'source'>;

/** `event_id` is the id of the first webhook event that contained the event. */
type Settled = Pick<SettledEvent, 'outcome' | 'incident_id'> & Pick<SeenEvent, 'event_id'>;

const SYSTEM = 'system';

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

  async settle(tx: Tx, arrival: Arrival, events: readonly ReadEvent[]): Promise<SettledEvents> {
    const { id, source } = arrival;
    const wanted = events.map((event) => ({
      event,
      row: this.creation.prepare(principalOf(source), event.incident),
    }));
    const claimed = await this.statements.rowsIn<{ incident_id: string }>(tx, CLAIM, [
      source,
      id,
      events.map(({ key }) => key),
      events.map(({ contentHash }) => contentHash),
      wanted.map(({ row }) => row.id),
    ]);
    const ids = new Set(claimed.map(({ incident_id }) => incident_id));
    const fresh = wanted.filter(({ row }) => ids.has(row.id));
    const rows = fresh.map(({ row }) => row);
    await this.creation.insertRows(tx, rows);
    await this.timeline.add(tx, ...fresh.flatMap(({ event, row }) => entriesOfNew(row, event)));
    const settled = new Map<ReadEvent, Settled>();
    for (const { event, row } of fresh) {
      settled.set(event, { outcome: 'created', incident_id: row.id, event_id: id });
    }

    const repeated = events.filter((event) => !settled.has(event));
    for (const known of await this.lockSeen(tx, source, repeated)) {
      const { incident_id, event_id, event_key, again } = known;
      const contents = new Set(known.content_hashes.map(nameOf));
      const updates: ReadEvent[] = [];
      for (const event of again) {
        const content = nameOf(event.contentHash);
        const outcome = contents.has(content) ? 'duplicate' : 'updated';
        settled.set(event, { outcome, incident_id, event_id });
        contents.add(content);
        if (outcome === 'updated') updates.push(event);
      }
      if (updates.length === 0) continue;
      const added = updates.map(({ contentHash }) => contentHash);
      await this.statements.rowsIn(tx, ADD_CONTENTS, [source, event_key, added]);
      await this.addReports(tx, arrival, updates, incident_id);
    }
    const incidents = [...new Set([...settled.values()].map(({ incident_id }) => incident_id))];
    const states = await this.incidents.statesOf(tx, incidents);
    const all = events.map((event) => {
      const { incident_number } = states.get(settled.get(event)!.incident_id)!;
      return { ...settled.get(event)!, incident_number };
    });
    const isDuplicate = all.every(({ outcome }) => outcome === 'duplicate');
    const first = all.map(({ event_id }) => event_id);
    const repeats = isDuplicate ? await this.repeatedBy(tx, arrival, first, incidents) : undefined;
    return { events: all, repeats };
  }

  /** Locks the known events in the order of their incidents, so that two concurrent bodies do not deadlock. */
  private async lockSeen(tx: Tx, source: string, events: readonly ReadEvent[]) {
    if (events.length === 0) return [];
    const byKey = Map.groupBy(events, ({ key }) => nameOf(key));
    const keys = events.map(({ key }) => key);
    const rows = await this.statements.rowsIn<SeenEvent>(tx, LOCK_SEEN, [source, keys]);
    return rows
      .map((row) => ({ ...row, again: byKey.get(nameOf(row.event_key))! }))
      .toSorted((one, other) => (one.incident_id < other.incident_id ? -1 : 1));
  }

  /** Returns the earlier webhook event with the same bytes, or else the first of `first` except the arrival. */
  private async repeatedBy(
    tx: Tx,
    { id, body_hash }: Arrival,
    first: readonly string[],
    incidents: readonly string[],
  ): Promise<SettledEvents['repeats']> {
    const values = [body_hash, id, first, incidents];
    const [same] = await this.statements.rowsIn<{ id: string }>(tx, FIND_SAME_BYTES, values);
    const repeated = same?.id ?? first.find((other) => other !== id);
    return repeated === undefined ? undefined : { id: repeated, hasBytes: same !== undefined };
  }

  /** Stores later events of an incident as reports, and applies them to the incident. A deleted incident does not change. */
  private async addReports(
    tx: Tx,
    arrival: Arrival,
    events: readonly ReadEvent[],
    incidentId: string,
  ): Promise<void> {
    let incident = await this.incidents.lockForUpdate(tx, incidentId);
    if (!incident) return;
    const { raw_data } = incident;
    const [newest] = (await this.reports.toJudge([incidentId], tx)).get(incidentId) ?? [];
    // The raw data of an event may have a megabyte, so each comparison is a separate turn of the event loop.
    const isNews = await this.turns.run(() =>
      newsAfter(parse(raw_data), newest && parse(newest.raw_data)),
    );
    let triage: ReadEvent['incident']['triage'];
    for (const event of events) {
      const saysMore = await this.turns.run(() => isNews(parse(event.incident.raw_data)));
      const news = newsOf(incident, event, saysMore);
      incident = await this.addReport(tx, arrival, event, incident, news);
      if (news) triage = event.incident.triage;
    }
    if (!triage) return;
    const payload = { ...triage, requested_by: principalOf(arrival.source), again: true };
    const subject = { type: 'incident', id: incidentId };
    await this.events.record(tx, { type: INCIDENT_EVENTS.triageWanted, subject, payload });
  }

  private async addReport(
    tx: Tx,
    { id, source }: Arrival,
    event: ReadEvent,
    before: Incident,
    news: News,
  ): Promise<Incident> {
    const by = principalOf(source);
    const about = { type: 'webhook_event', id };
    const { severity, overWord } = event;
    const { fields, raw_data, title } = event.incident;
    const report = { incident_id: before.id, source, severity, webhook_event_id: id, raw_data };
    await this.reports.add(tx, report);

    const source_status = statusAfter(before, event);
    const rises = severityRises(before.severity, severity);
    const reopens = news === 'reopens' && this.settings.reopenOnUpdate;
    const isOpen = before.status !== 'resolved' || reopens;
    const stays = news && isOpen && (rises || overWord === undefined) && verdictStays(before);
    const adds = Object.keys(fields).filter((name) => before.fields[name] === undefined);

    const entries: NewTimelineEntry[] = [];
    const note = (entry: string, summary: string, actor = SYSTEM) =>
      void entries.push({ incidentId: before.id, event: entry, actor, summary, subject: about });
    const more = adds.length > 0 ? ` It adds ${adds.join(', ')}.` : '';
    const sent = `${source} sent the event again with other content, severity ${severity}.${more}`;
    note('event_updated', sent, by);
    entries.push(...unknownSeverityEntries(before.id, by, event));
    if (source_status) {
      const state = source_status === 'resolved' ? `over (${overWord})` : 'open again';
      note(`source_${source_status}`, `${source} says that its alert is ${state}.`, by);
    }
    if (news === 'reopens' && !reopens) {
      const left =
        'The incident stays resolved although the event has new information, because REOPEN_ON_UPDATE is off.';
      note('update_of_resolved', left);
    }
    if (stays) {
      const judge = before.verdict?.decided_by;
      note('update_of_judged', `${source} reports more than ${judge} knew. ${stays}`);
    }
    await this.timeline.add(tx, ...entries);
    // News also counts as a change if no field is new, so that `updated_at` and `incident.updated` report the news.
    if (!news && adds.length === 0 && !source_status) return before;
    // One change for all fields, so that people get only one message about the reopening and the severity.
    const wanted = {
      reopen: reopens || undefined,
      severity: rises ? severity : undefined,
      title: rises ? await this.titleOf(tx, event, before.id) : undefined,
      fields,
      source_status,
    };
    const reported = `${source}: ${shownStart(title, 120)}, severity ${severity}.`;
    const because = stays ? `${reported} ${stays}` : reported;
    const origin = { by: reopens ? SYSTEM : by, byPerson: false, about, because };
    return await this.changes.change(tx, before, wanted, origin);
  }

  /** Returns the new title; `undefined` if a person wrote the present title, or if the new title has no details. */
  private async titleOf(tx: Tx, { incident }: ReadEvent, id: string): Promise<string | undefined> {
    const { incident_type, source, title } = incident;
    if (title === titleWithoutDetails(incident_type, source)) return undefined;
    return (await this.timeline.hasTitleByPerson(tx, id)) ? undefined : title;
  }
}

type News = 'reopens' | 'tells' | undefined;

/** A higher severity is always news. A report of a closed alert reopens an incident only if the severity rises. */
function newsOf(before: Incident, { severity, overWord }: ReadEvent, saysMore: boolean): News {
  const rises = severityRises(before.severity, severity);
  if (!rises && !saysMore) return undefined;
  return before.status === 'resolved' && (rises || overWord === undefined) ? 'reopens' : 'tells';
}

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
  const { incident, severity, overWord } = event;
  if (overWord === undefined) return entries;
  const lowered =
    severity === incident.severity
      ? '.'
      : `: its severity ${severity} counts as ${incident.severity} here.`;
  const summary = `${incident.source} says that its alert is over (${overWord})${lowered}`;
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

const parse = (text: string) => JSON.parse(text) as Json;

const nameOf = (bytes: Buffer): string => bytes.toString('base64');
