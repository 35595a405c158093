import type { Provider } from '@nestjs/common';
import { CrowdstrikeFalconType } from './adapters/crowdstrike-falcon/crowdstrike-falcon.connector.js';
import { HttpType } from './adapters/http/http.connector.js';
import { JiraType } from './adapters/jira/jira.connector.js';
import { MicrosoftDefenderType } from './adapters/microsoft-defender/microsoft-defender.connector.js';
import { MicrosoftGraphType } from './adapters/microsoft-graph/microsoft-graph.connector.js';
import { OktaType } from './adapters/okta/okta.connector.js';
import { SandboxType } from './adapters/sandbox/sandbox.connector.js';
import { SlackType } from './adapters/slack/slack.connector.js';
import { SmtpType } from './adapters/smtp/smtp.connector.js';
import { VirusTotalType } from './adapters/virustotal/virustotal.connector.js';
import type { ConfigSchema } from '../targets/target-config.js';
import { TypesByName } from '../targets/target-check.js';
import type { ConnectorRecord } from './connector.js';
import type { ConnectorType } from './connector-type.js';

/** Classes of all types, in the order in which the API lists them. */
const CLASSES = [
  CrowdstrikeFalconType,
  HttpType,
  JiraType,
  MicrosoftDefenderType,
  MicrosoftGraphType,
  OktaType,
  SlackType,
  SmtpType,
  VirusTotalType,
  SandboxType,
];

/** Configuration schema of each type, for the OpenAPI document, which is generated without injected services. */
export const CONNECTOR_SCHEMAS: Readonly<Record<string, ConfigSchema>> = Object.fromEntries(
  CLASSES.map((Class) => Reflect.construct(Class, []) as ConnectorType)
    .map(({ name, schema }) => [name, schema] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1)),
);

/** All types of connectors. */
export class ConnectorTypes extends TypesByName<ConnectorType> {
  /**
   * Whether a connector serves no action because another one exists. The sandbox serves only if no other connector
   * exists, enabled or not: after the last real connector was disabled, actions must not appear completed.
   */
  standsBy({ type }: Typed, all: readonly Typed[]): boolean {
    return (
      this.find(type)?.servesOnlyAlone === true &&
      all.some((other) => this.find(other.type)?.servesOnlyAlone === false)
    );
  }
}

type Typed = Pick<ConnectorRecord, 'type'>;

export const CONNECTOR_TYPE_PROVIDERS: Provider[] = [
  ...CLASSES,
  {
    provide: ConnectorTypes,
    useFactory: (...all: ConnectorType[]) => new ConnectorTypes(all),
    inject: CLASSES,
  },
];
