import type { HeadersObject, SchemaObject, SchemasObject } from '@nestjs/swagger';
import { APPROVAL_LEVELS } from '../../src/platform/access/roles.js';
import { ERROR_CATALOGUE } from '../../src/platform/errors/error-catalogue.js';
import { LAST_PAGE, MOST_PER_PAGE } from '../../src/platform/paging/page.js';
import { integer } from '../../src/platform/validation/fields.js';

export const REQUEST_ID_HEADER: HeadersObject = {
  'X-Request-Id': {
    description: 'The id under which the log knows the request.',
    schema: { type: 'string' },
    required: true,
  },
};

export const RATE_LIMIT_HEADERS: HeadersObject = {
  'X-RateLimit-Limit': { description: 'Requests allowed per minute.', schema: integer() },
  'X-RateLimit-Remaining': {
    description: 'Requests left now.',
    schema: integer(),
  },
  'X-RateLimit-Reset': {
    description: 'When the whole limit is free again, in unix seconds.',
    schema: integer(),
  },
};

export const REPLAYED_HEADER: HeadersObject = {
  'Idempotency-Replayed': {
    description:
      'Says that this is the answer of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
};

export const UNDER_WAY_HEADER: HeadersObject = {
  'Retry-After': {
    description: 'Seconds to wait, where waiting helps.',
    schema: integer(),
  },
};

export const ERROR_HEADERS: Readonly<Record<number, HeadersObject>> = {
  401: { 'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } } },
  412: {
    ETag: {
      description: 'Names the present version of the resource.',
      schema: { type: 'string' },
      required: true,
    },
  },
  429: {
    'Retry-After': { description: 'Seconds to wait.', schema: integer(), required: true },
  },
  503: {
    'Retry-After': { description: 'Seconds to wait, where waiting helps.', schema: integer() },
  },
};

const ERROR_CODES = Object.keys(ERROR_CATALOGUE).sort();

export const SHARED_SCHEMAS: SchemasObject = {
  AnyJson: { description: 'Any JSON value.' },
  ErrorCode: {
    type: 'string',
    description: `Stable, for programs. An open set: treat a code that you do not know by its HTTP status. Now: ${ERROR_CODES.join(', ')}.`,
    'x-extensible-enum': ERROR_CODES,
  } as SchemaObject,
  ApprovalLevel: {
    type: 'string',
    enum: [...APPROVAL_LEVELS],
    description: 'What a principal may approve; a viewer nothing.',
  },
  FieldError: {
    type: 'object',
    required: ['field', 'code', 'message'],
    properties: {
      field: {
        type: 'string',
        description: 'A dotted path; empty for the body as a whole.',
        example: 'parameters.message_id',
      },
      code: {
        type: 'string',
        description:
          'The rule that the field breaks. An open set; /docs/guides/api lists the codes.',
        example: 'is_string',
      },
      message: { type: 'string', example: 'parameters.message_id must be a string.' },
    },
  },
  ErrorObject: {
    type: 'object',
    required: ['code', 'message', 'request_id'],
    properties: {
      code: { $ref: '#/components/schemas/ErrorCode' },
      message: {
        type: 'string',
        description: 'For people; may change.',
        example: 'Incident not found.',
      },
      request_id: { type: 'string', example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' },
      details: {
        title: 'ErrorDetails',
        type: 'object',
        additionalProperties: true,
        properties: {
          errors: {
            type: 'array',
            items: { $ref: '#/components/schemas/FieldError' },
            description: 'With validation_error and weak_password.',
          },
          required_role: {
            type: 'string',
            description: 'With forbidden, where the role is too low: the least that may.',
            example: 'admin',
          },
          hint: {
            type: 'string',
            description:
              'With validation_error of a webhook receipt: the preset that the body looks like.',
            example: 'This looks like okta.',
          },
          reason: {
            type: 'string',
            description:
              'With kill_switch_active: why it was turned on; with ai_unavailable: what is wrong with the provider; with invalid_state: `incident_resolved` where an action was not approved because its incident is resolved, `playbook_disabled` where a disabled playbook was to start a run.',
          },
          triage_id: {
            title: 'TriageRunId',
            type: 'string',
            format: 'uuid',
            description: 'With triage_in_progress: the run that waits or is under way.',
          },
          status: {
            type: 'string',
            description: 'With triage_in_progress: whether that run is queued or running.',
          },
          activated_by: {
            type: 'string',
            description: 'With kill_switch_active: who turned it on.',
          },
          activated_at: {
            type: 'string',
            format: 'date-time',
            description: 'With kill_switch_active: when it was turned on.',
          },
        },
      },
      required_level: {
        allOf: [{ $ref: '#/components/schemas/ApprovalLevel' }],
        description: 'With insufficient_approval_level: what the action needs.',
      },
      your_level: {
        allOf: [{ $ref: '#/components/schemas/ApprovalLevel' }],
        description: 'With insufficient_approval_level: what the caller has.',
      },
    },
    additionalProperties: false,
  },
  ErrorEnvelope: {
    type: 'object',
    required: ['error'],
    properties: { error: { $ref: '#/components/schemas/ErrorObject' } },
    additionalProperties: false,
  },
  ListMeta: {
    type: 'object',
    required: ['page', 'per_page', 'total'],
    properties: {
      page: { ...integer(1, LAST_PAGE), example: 1 },
      per_page: { ...integer(1, MOST_PER_PAGE), example: 20 },
      total: { ...integer(0), description: 'Exact.', example: 1 },
    },
    additionalProperties: false,
  },
};
