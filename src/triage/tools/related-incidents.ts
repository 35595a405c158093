import { Injectable } from '@nestjs/common';
import type { Incident } from '../../incidents/incident.js';
import { Incidents } from '../../incidents/incidents.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import type { TriageTool } from '../model/triage-model.port.js';
import { IncidentIndicatorsRepository } from '../records/incident-indicators.repository.js';
import { INDICATOR_INPUT, indicatorOf, type Question } from './tool-rules.js';

const MOST = 10;

/** Other incidents in which a run found the same sender, host, hash, user … */
@Injectable()
export class RelatedIncidents {
  constructor(
    private readonly indicators: IncidentIndicatorsRepository,
    private readonly incidents: Incidents,
  ) {}

  toolFor({ incident, indicators }: Question): TriageTool {
    return {
      name: 'related_incidents',
      description: `The newest other incidents, at most ${MOST}, in which triage found the same indicator, with their verdicts.`,
      inputSchema: INDICATOR_INPUT,
      ask: async (input) => {
        const indicator = indicatorOf(input, indicators);
        const ids = await this.indicators.sharing(incident.id, indicator, MOST);
        const found = await Promise.all(ids.map((id) => this.find(id)));
        return { incidents: found.filter((one) => one !== undefined).map(shown) };
      },
    };
  }

  /** Undefined when it was deleted. */
  private async find(id: string): Promise<Incident | undefined> {
    try {
      return await this.incidents.get(id);
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}

function shown(incident: Incident) {
  const { verdict } = incident;
  return {
    incident_number: incident.incident_number,
    incident_type: incident.incident_type,
    severity: incident.severity,
    status: incident.status,
    title: incident.title,
    created_at: incident.created_at.toISOString(),
    ...(verdict && {
      classification: verdict.classification,
      category: verdict.category,
      decided_by_person: incident.verdict_by_person,
    }),
  };
}
