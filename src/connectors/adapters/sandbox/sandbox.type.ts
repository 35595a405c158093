import { Injectable } from '@nestjs/common';
import { ACTION_TYPES, type ActionTypeName } from '../../../actions/catalogue/action-types.js';
import type { Config, ConfigSchema } from '../../config/config-schema.js';
import type { Connector, ConnectorIdentity } from '../../connector.port.js';
import { ConnectorType } from '../../connector-type.port.js';
import { SandboxConnector } from './sandbox.connector.js';

@Injectable()
export class SandboxType extends ConnectorType {
  readonly name = 'sandbox';
  readonly description =
    'Does nothing outside and says so. Serves every action, but only while no enabled connector of another type exists.';
  readonly actions = ACTION_TYPES;
  readonly destinations = [];
  override readonly standIn = true;

  readonly schema: ConfigSchema = {
    type: 'object',
    properties: {
      latency_ms: {
        type: 'integer',
        minimum: 0,
        maximum: 60_000,
        default: 0,
        description: 'How long each action takes.',
      },
      fail: {
        type: 'array',
        items: { type: 'string', enum: ACTION_TYPES, maxLength: 64 },
        maxItems: ACTION_TYPES.length,
        uniqueItems: true,
        description: 'The action types that fail.',
      },
    },
    required: [],
    additionalProperties: false,
  };

  create(identity: ConnectorIdentity, config: Config): Connector {
    const { latency_ms = 0, fail = [] } = config as {
      latency_ms?: number;
      fail?: ActionTypeName[];
    };
    return new SandboxConnector(identity, latency_ms, new Set(fail));
  }
}
