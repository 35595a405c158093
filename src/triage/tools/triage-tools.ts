import { Injectable } from '@nestjs/common';
import { mailAuthentication } from '../evidence/mail-authentication.js';
import type { TriageTool } from '../model/triage-model.port.js';
import { boundedTools, NO_INPUT, type Question, requireNoInput } from './tool-rules.js';
import { ConnectorLookups } from './connector-lookups.js';
import { RelatedIncidents } from './related-incidents.js';

/** The questions that a model may ask in one run. All of them only read. */
@Injectable()
export class TriageTools {
  constructor(
    private readonly related: RelatedIncidents,
    private readonly lookups: ConnectorLookups,
  ) {}

  async of(question: Question): Promise<TriageTool[]> {
    const lookUp = await this.lookups.toolFor(question);
    return boundedTools([
      this.related.toolFor(question),
      mailAuthenticationOf(question),
      ...(lookUp ? [lookUp] : []),
    ]);
  }
}

function mailAuthenticationOf({ rawData, incident }: Question): TriageTool {
  return {
    name: 'mail_authentication',
    description:
      'What SPF, DKIM and DMARC said about the mail. `said_by` tells whether the gateway reported it in a field of its own, or ' +
      'whether it stands in a header of the mail, which its sender may have written.',
    inputSchema: NO_INPUT,
    ask: async (input) => {
      requireNoInput(input);
      return mailAuthentication({ ...incident.fields, ...rawData });
    },
  };
}
