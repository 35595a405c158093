import { ID_EXAMPLE } from '../platform/validation/fields.js';

const CONFIG = { url: 'https://hooks.example.com/incidents' };
const TIME = '2026-11-02T09:00:00.000Z';

export const NEW_CHANNEL_EXAMPLE = {
  name: 'soc',
  type: 'webhook',
  config: CONFIG,
  events: ['incident.created', 'action.pending_approval'],
  min_severity: 'high',
};

export const CHANNEL_EXAMPLE = {
  id: ID_EXAMPLE,
  ...NEW_CHANNEL_EXAMPLE,
  enabled: true,
  secrets_set: ['secret'],
  status: 'healthy',
  created_by: 'alice',
  created_at: TIME,
  updated_at: TIME,
};

/** Bytes that nobody uses. */
export const SECRET_EXAMPLE = `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`;

export const CREATED_CHANNEL_EXAMPLE = { ...CHANNEL_EXAMPLE, secret: SECRET_EXAMPLE };

export const DELIVERY_EXAMPLE = {
  id: '0193f2b6-7c1e-7a0b-8c11-5d8f0a1b2c3d',
  event_id: ID_EXAMPLE,
  event: 'incident.created',
  subject: { type: 'incident', id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4f' },
  status: 'pending',
  attempts: 3,
  last_error: 'It answered with status 503.',
  created_at: TIME,
  next_attempt_at: '2026-11-02T09:01:30.000Z',
  expires_at: '2026-11-03T09:00:00.000Z',
};
