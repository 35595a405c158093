import type { DataSource } from 'typeorm';

export const clearNotifications = (dataSource: DataSource): Promise<unknown> =>
  dataSource.query(
    'truncate notification_channels, notification_deliveries, notification_delivery_count_deltas, domain_events cascade',
  );
