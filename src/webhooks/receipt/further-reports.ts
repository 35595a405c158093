import { Injectable } from '@nestjs/common';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import type { IncidentFields } from '../../incidents/incident-fields.js';
import { type Incident, severityRises } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { IncidentReports } from '../../incidents/reports/incident-reports.js';
import { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import { Settings } from '../../platform/config/settings.js';
import type { Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/jobs/events/domain-events.js';
import type { Json } from '../reading/json.js';
import type { ReadEvent } from '../reading/read-events.js';
import { saysItIsOver, saysMore } from './news.js';
import { type Arrival, principalOf } from './receipt.js';
import { unknownSeverityEntries } from './unknown-severity.js';

/** In the timeline of an incident; its subject is the receipt. */
export const EVENT_UPDATED = 'event_updated';
const STAYED_RESOLVED = 'update_of_resolved';

const SYSTEM = 'system';

/** Keeps what a later event says about an incident, and does what follows from it, in the caller's transaction. */
@Injectable()
export class FurtherReports {
  constructor(
    private readonly incidents: IncidentsService,
    private readonly reports: IncidentReports,
    private readonly timeline: IncidentTimeline,
    private readonly events: DomainEvents,
    private readonly settings: Settings,
  ) {}

  /** An incident that was deleted stays as it was; the receipt is kept all the same. */
  async add(tx: Tx, { id, source }: Arrival, event: ReadEvent, incidentId: string): Promise<void> {
    const before = await this.incidents.lockForUpdate(tx, incidentId);
    if (!before) return;
    const by = principalOf(source);
    const about = { type: 'webhook_event', id };
    const { severity, fields, rawData } = event.incident;
    const news = await this.newsOf(tx, before, event);
    const added = absentIn(before.fields, fields);
    await this.reports.add(tx, {
      incident_id: incidentId,
      source,
      severity,
      webhook_event_id: id,
      raw_data: rawData,
    });
    const adds = Object.keys(added);
    const more = adds.length > 0 ? ` It adds ${adds.join(', ')}.` : '';
    await this.timeline.add(
      tx,
      {
        incidentId,
        event: EVENT_UPDATED,
        actor: by,
        summary: `${source} sent the event again with other content, severity ${severity}.${more}`,
        subject: about,
      },
      ...unknownSeverityEntries(incidentId, by, event),
    );
    const current = news === 'reopens' ? await this.reopen(tx, before, about) : before;
    const rises = severityRises(before.severity, severity);
    // Also without another field: whoever follows `updated_at` or `incident.updated` learns of the report.
    if (rises || adds.length > 0 || (news && current === before)) {
      const change = { severity: rises ? severity : undefined, fields: added };
      await this.incidents.change(tx, current, change, { by, byPerson: false, about });
    }
    const { triage } = event.incident;
    if (news && triage) {
      const payload = { ...triage, requested_by: by, again: true };
      const subject = { type: 'incident', id: incidentId };
      await this.events.record(tx, { type: INCIDENT_EVENTS.triageWanted, subject, payload });
    }
  }

  /** A higher severity always counts. An alert that its tool has closed reopens nothing. */
  private async newsOf(
    tx: Tx,
    before: Incident,
    { incident: { severity, rawData } }: ReadEvent,
  ): Promise<'reopens' | 'tells' | undefined> {
    const latest = await this.reports.latestIn(tx, before.id);
    const event = JSON.parse(rawData) as Json;
    const known = [before.rawData, ...(latest === undefined ? [] : [latest])];
    const rises = severityRises(before.severity, severity);
    const more =
      rises ||
      saysMore(
        event,
        known.map((text) => JSON.parse(text) as Json),
      );
    if (!more) return undefined;
    return before.status === 'resolved' && (rises || !saysItIsOver(event)) ? 'reopens' : 'tells';
  }

  private async reopen(
    tx: Tx,
    before: Incident,
    about: { readonly type: string; readonly id: string },
  ): Promise<Incident> {
    if (this.settings.reopenOnUpdate) {
      const origin = { by: SYSTEM, byPerson: false, about };
      return await this.incidents.change(tx, before, { reopen: true }, origin);
    }
    await this.timeline.add(tx, {
      incidentId: before.id,
      event: STAYED_RESOLVED,
      actor: SYSTEM,
      summary: 'Stays resolved although the event says more: REOPEN_ON_UPDATE is off.',
      subject: about,
    });
    return before;
  }
}

function absentIn(known: IncidentFields, said: IncidentFields): IncidentFields {
  return Object.fromEntries(Object.entries(said).filter(([name]) => known[name] === undefined));
}
