import { Injectable } from '@nestjs/common';
import {
  ACTION_TYPES,
  type ActionTypeName,
  isActionType,
} from '../../../actions/catalogue/action-types.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import type { Config } from '../../config/config-schema.js';
import type { Connector, ConnectorIdentity } from '../../connector.port.js';
import { ConnectorType } from '../../connector-type.port.js';
import { HTTP_SCHEMA, type HttpConfig } from './http-config.js';
import { httpConfigProblems } from './http-config-rules.js';
import { HttpConnector } from './http.connector.js';

@Injectable()
export class HttpType extends ConnectorType {
  readonly name = 'http';
  readonly description =
    'Any service with an HTTP interface: each action type is a request, made from templates over parameters, secrets and action.id.';
  readonly actions = ACTION_TYPES;
  readonly schema = HTTP_SCHEMA;
  readonly destinations = [{ address: 'base_url' }];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  override problems(config: Config, path: string): FieldError[] {
    return httpConfigProblems(config as unknown as HttpConfig, path);
  }

  override provides(config: Config): readonly ActionTypeName[] {
    return Object.keys((config as unknown as HttpConfig).actions).filter(isActionType);
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    return new HttpConnector(identity, config as unknown as HttpConfig, new VendorCalls(this.http));
  }
}
