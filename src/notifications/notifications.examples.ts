import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';
import { WEBHOOK_SCHEMA } from './channels/webhook/webhook-config.js';
import { NEW_CHANNEL_EXAMPLE, SECRET_EXAMPLE } from './channel-example.js';

const CHANNEL = {
  id: STORY.channel,
  name: 'soc',
  type: 'webhook',
  enabled: false,
  events: ['incident.created', 'action.pending_approval'],
  min_severity: 'high',
  config: { url: 'https://hooks.example.com/incidents' },
  secrets_set: ['secret'],
  status: 'disabled',
  dead_last_day: 0,
  created_by: 'admin',
  created_at: '2026-01-30T15:20:00.004Z',
  updated_at: '2026-01-30T15:20:00.004Z',
};

const DELIVERY = {
  id: STORY.mailDelivery,
  event_id: STORY.mailEvent,
  event: 'incident.created',
  subject: { type: 'incident', id: STORY.mail },
  status: 'dead',
  attempts: 31,
  last_error: 'It answered with status 503.',
  created_at: '2026-01-31T09:42:00.006Z',
  ended_at: '2026-02-01T09:42:10.000Z',
};

export const NOTIFICATION_EXAMPLES: OperationExamples = {
  createNotificationChannel: {
    webhook: {
      summary: 'A service that takes webhooks, to be enabled later',
      body: {
        ...NEW_CHANNEL_EXAMPLE,
        enabled: false,
        config: { ...NEW_CHANNEL_EXAMPLE.config, secret: SECRET_EXAMPLE },
      },
      status: 201,
      answer: { data: CHANNEL },
    },
    conflict: {
      summary: 'The name is taken',
      body: NEW_CHANNEL_EXAMPLE,
      status: 409,
      answer: refused('conflict', 'There is a notification channel named soc already.'),
    },
  },
  listNotificationChannels: {
    by_name: {
      summary: 'In the order of their names',
      query: { sort: 'name' },
      status: 200,
      answer: { data: [CHANNEL], meta: { page: 1, per_page: 20, total: 1 } },
    },
  },
  listNotificationChannelTypes: {
    excerpt: {
      summary: 'One of them',
      status: 200,
      answer: {
        data: [
          {
            name: 'webhook',
            description:
              'Any service that takes webhooks: each event as JSON, signed as Standard Webhooks says.',
            config_schema: { ...WEBHOOK_SCHEMA, required: ['url'] },
          },
        ],
      },
    },
  },
  getNotificationChannel: {
    webhook: {
      summary: 'A service that takes webhooks',
      path: { id: STORY.channel },
      status: 200,
      answer: { data: CHANNEL },
    },
  },
  updateNotificationChannel: {
    only_critical: {
      summary: 'Tell it of what is critical alone',
      path: { id: STORY.channel },
      body: { min_severity: 'critical' },
      status: 200,
      answer: {
        data: { ...CHANNEL, min_severity: 'critical', updated_at: '2026-01-30T15:21:00.006Z' },
      },
    },
  },
  deleteNotificationChannel: {
    deleted: {
      summary: 'Nobody is told over it any more',
      path: { id: STORY.channel },
      status: 200,
      answer: { data: { id: STORY.channel, deleted: true } },
    },
  },
  testNotificationChannel: {
    delivered: {
      summary: 'It arrives',
      path: { id: STORY.channel },
      status: 200,
      answer: { data: { success: true, message: 'The message is delivered.', latency_ms: 42 } },
    },
  },
  listNotificationDeliveries: {
    dead: {
      summary: 'What did not arrive',
      path: { id: STORY.channel },
      query: { status: 'dead' },
      status: 200,
      answer: { data: [DELIVERY], meta: { page: 1, per_page: 20, total: 1 } },
    },
  },
  redeliverDeadNotifications: {
    day: {
      summary: 'Try what was given up since midnight',
      path: { id: STORY.channel },
      body: { since: '2026-01-31T00:00:00.000Z' },
      status: 202,
      answer: { data: { redelivered: 1 } },
    },
  },
  redeliverNotification: {
    again: {
      summary: 'Try it for another day',
      path: { id: STORY.channel, delivery_id: STORY.mailDelivery },
      status: 202,
      answer: {
        data: {
          id: STORY.mailDelivery,
          event_id: STORY.mailEvent,
          event: 'incident.created',
          subject: { type: 'incident', id: STORY.mail },
          status: 'pending',
          attempts: 31,
          last_error: 'It answered with status 503.',
          created_at: '2026-01-31T09:42:00.006Z',
          next_attempt_at: '2026-02-01T10:00:00.000Z',
          expires_at: '2026-02-02T10:00:00.000Z',
        },
      },
    },
  },
};
