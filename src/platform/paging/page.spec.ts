import { findOrder } from './page.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

const COLUMNS = { created_at: 'created_at', name: 'name', title: 'name' } as const;

const order = (...sort: Parameters<typeof findOrder<Row, keyof typeof COLUMNS>>[0]) =>
  Object.entries(findOrder<Row, keyof typeof COLUMNS>(sort, COLUMNS, 'id'));

describe('findOrder', () => {
  it('orders by the fields, then by the key in the direction of the last field', () => {
    expect(order('-created_at')).toEqual([
      ['created_at', 'DESC'],
      ['id', 'DESC'],
    ]);
    expect(order('-name', 'created_at')).toEqual([
      ['name', 'DESC'],
      ['created_at', 'ASC'],
      ['id', 'ASC'],
    ]);
  });

  it('uses the first of two fields with the same column', () => {
    expect(order('-title', 'name', 'created_at')).toEqual([
      ['name', 'DESC'],
      ['created_at', 'ASC'],
      ['id', 'ASC'],
    ]);
  });
});
