// SQL: a list is one statement with its exact total.
import { Injectable } from '@nestjs/common';
import {
  byId,
  choiceOf,
  countOf,
  idsInOrder,
  isChosen,
  listStatement,
  pageOf,
  StatementValues,
  type WithTotal,
} from '../../platform/counting/counted-list.sql.js';
import { CountFold } from '../../platform/counting/count-fold.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { Page } from '../../platform/paging/page.js';
import { type Delivery, DELIVERY_STATUSES, type DeliveryListRequest } from '../delivery.js';
import { deliveryColumns, deliveryOf, type DeliveryRow } from './delivery-rows.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';

const TABLE = 'notification_deliveries';
const DIMENSIONS = ['channel_id', 'status'] as const;

const WAITING: Statement = {
  name: 'notification_deliveries_waiting',
  text: `
    select greatest(0, ${countOf('notification_delivery', [`status = 'pending'`, `channel_id in (select id from notification_channels where enabled)`])})::integer as n`,
};

@Injectable()
export class DeliveryListRepository {
  constructor(private readonly statements: Statements) {}

  /** An index has the ids of each status in order; a list of several statuses merges them. */
  async list(request: DeliveryListRequest): Promise<Page<Delivery>> {
    const { channelId, statuses = DELIVERY_STATUSES, descending, page, per_page } = request;
    const values = new StatementValues();
    const ofChannel = `channel_id = ${values.add(channelId, 'uuid')}`;
    const chosen = choiceOf(statuses, 'text', values)!;
    const direction = descending ? 'desc' : 'asc';
    const offset = (page - 1) * per_page;
    const ranges = chosen.each.map((status) => [ofChannel, `status = ${status}`]);
    const first = idsInOrder(TABLE, ranges, direction, offset + per_page);
    const text = listStatement({
      total: countOf('notification_delivery', [ofChannel, isChosen('status', chosen)]),
      ids: `
    select id from (${first}) as candidate order by id ${direction}
    offset ${values.add(offset, 'bigint')} limit ${per_page}`,
      columns: deliveryColumns(TABLE),
      table: TABLE,
      order: byId(direction),
    });
    const rows = await this.statements.rows<DeliveryRow & WithTotal>({ name: '', text }, [
      ...values.all,
    ]);
    return pageOf(rows, deliveryOf);
  }

  /** How many are on their way to channels that are enabled. */
  async waiting(): Promise<number> {
    return (await this.statements.rows<{ n: number }>(WAITING))[0]!.n;
  }
}

/** Keeps the totals of the lists of deliveries cheap. */
@Injectable()
export class DeliveryCounts extends CountFold {
  constructor(statements: Statements, transactions: Transactions) {
    super(statements, transactions, {
      rows: 'notifications',
      table: 'notification_delivery',
      by: DIMENSIONS,
      lock: AdvisoryLock.NotificationDeliveryCounts,
    });
  }
}
