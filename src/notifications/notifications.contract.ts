import type { ModuleContract } from '../platform/openapi/module-contract.js';

/** What the contract says about this module beside its DTOs and controllers. */
export const NOTIFICATIONS_CONTRACT: ModuleContract = {
  tags: {
    Notifications:
      'Who is told of what happens, over which channel, and what became of each message.',
  },
  ids: {
    deliveries: { what: 'delivery', schema: 'NotificationDeliveryId' },
    'notification-channels': { what: 'notification channel', schema: 'NotificationChannelId' },
  },
  schemas: {
    ChangedNotificationChannel:
      'A channel after a change, with its secret where the service made one.',
    DeliverySubject: 'What the event of a delivery is about.',
    NotificationChannel: 'A notification channel without its secrets.',
    NotificationChannelType: 'A type of notification channels, and what it has to know.',
    NotificationChannelUpdate: 'Changes to a notification channel; at least one field is required.',
    DeadDeliveries: 'Which deliveries that were given up are tried again.',
    RedeliveredDeliveries: 'How many deliveries are tried again.',
    NotificationDelivery: 'One event on its way to one channel.',
    NotificationTest: 'Whether a test message arrived.',
    ComponentStatus:
      'healthy: it works. degraded: it works in part. unhealthy: it does not work. disabled: it is not set up.',
  },
};
