import { findOrder, orderOfAlias } from './find-order.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly created_at: Date;
}

const COLUMNS = { created_at: 'created_at', name: 'name', title: 'name' } as const;

const order = (...sort: Parameters<typeof findOrder<Row, keyof typeof COLUMNS>>[0]) =>
  Object.entries(findOrder<Row, keyof typeof COLUMNS>(sort, COLUMNS, 'id'));

describe('findOrder', () => {
  it('has the fields in their order, and the key last in the direction of the last field', () => {
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

  it('takes the first of two fields that stand for one column', () => {
    expect(order('-title', 'name', 'created_at')).toEqual([
      ['name', 'DESC'],
      ['created_at', 'ASC'],
      ['id', 'ASC'],
    ]);
  });

  it('names the table of a query', () => {
    expect(orderOfAlias('key', { name: 'ASC', id: 'ASC' })).toEqual({
      'key.name': 'ASC',
      'key.id': 'ASC',
    });
  });
});
