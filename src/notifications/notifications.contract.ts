import type { ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const NOTIFICATIONS_CONTRACT: ModuleContract = {
  tags: {
    Notifications: 'Channels that receive messages about events, and their deliveries.',
  },
  ids: {
    deliveries: { what: 'delivery', schema: 'NotificationDeliveryId' },
    'notification-channels': { what: 'notification channel', schema: 'NotificationChannelId' },
  },
  schemas: {
    ChangedNotificationChannel:
      'A channel after a change, with its secret if the service generated one.',
    DeliverySubject: 'Subject of the event of a delivery.',
    NotificationChannel: 'A notification channel without its secrets.',
    NotificationChannelType:
      'A type of notification channel, with the schema of its configuration.',
    NotificationChannelUpdate: 'Changes to a notification channel; at least one field is required.',
    DeadDeliveries: 'Selection of the dead deliveries to retry.',
    RedeliveredDeliveries: 'Number of deliveries to retry.',
    NotificationDelivery: 'Delivery of an event to a channel.',
    NotificationTest: 'Result of a test message.',
    ComponentStatus:
      'healthy: works. degraded: works in part. unhealthy: does not work. disabled: not in use.',
  },
};
