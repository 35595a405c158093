import { Injectable } from '@nestjs/common';
import { CrowdstrikeFalconType } from './adapters/crowdstrike-falcon/crowdstrike-falcon.connector.js';
import { HttpType } from './adapters/http/http.connector.js';
import { JiraType } from './adapters/jira/jira.type.js';
import { MicrosoftDefenderType } from './adapters/microsoft-defender/microsoft-defender.connector.js';
import { MicrosoftGraphType } from './adapters/microsoft-graph/microsoft-graph.connector.js';
import { OktaType } from './adapters/okta/okta.connector.js';
import { SandboxType } from './adapters/sandbox/sandbox.connector.js';
import { SlackType } from './adapters/slack/slack.connector.js';
import { SmtpType } from './adapters/smtp/smtp.connector.js';
import { VirusTotalType } from './adapters/virustotal/virustotal.connector.js';
import type { ConnectorType } from './connector-type.port.js';

/** All types of connectors. */
@Injectable()
export class ConnectorTypes {
  readonly all: readonly ConnectorType[];

  constructor(
    falcon: CrowdstrikeFalconType,
    http: HttpType,
    jira: JiraType,
    microsoftDefender: MicrosoftDefenderType,
    microsoftGraph: MicrosoftGraphType,
    okta: OktaType,
    slack: SlackType,
    smtp: SmtpType,
    virustotal: VirusTotalType,
    sandbox: SandboxType,
  ) {
    this.all = [
      falcon,
      http,
      jira,
      microsoftDefender,
      microsoftGraph,
      okta,
      slack,
      smtp,
      virustotal,
      sandbox,
    ];
  }

  find(name: string): ConnectorType | undefined {
    return this.all.find((type) => type.name === name);
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }
}
