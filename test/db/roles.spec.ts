import {
  highestRole,
  lowerRoleSql,
  roleReaches,
  roleReachesSql,
  ROLES,
} from '../../src/platform/access/roles.js';
import { useTestDatabase } from '../support/open-test-database.js';

const PAIRS = ROLES.flatMap((one) => ROLES.map((other) => [one, other] as const));

describe('The functions for the order of the roles', () => {
  const { query } = useTestDatabase();

  const valueOf = async (sql: string): Promise<unknown> =>
    (await query<[{ value: unknown }]>(`select ${sql} as value`))[0].value;

  it('agree in SQL and in code', async () => {
    for (const [role, required] of PAIRS) {
      const sql = roleReachesSql(`'${role}'`, `'${required}'`);
      expect([role, required, await valueOf(sql)]).toEqual([
        role,
        required,
        roleReaches(role, required),
      ]);
    }
  });

  it('return the lower of two roles, and ignore null', async () => {
    for (const [one, other] of PAIRS) {
      const lower = roleReaches(one, other) ? other : one;
      expect(await valueOf(lowerRoleSql(`'${one}'`, `'${other}'`))).toBe(lower);
    }
    expect(await valueOf(lowerRoleSql(`'senior'`, 'null'))).toBe('senior');
  });

  it('return null in SQL if a role is unknown', async () => {
    expect(await valueOf(roleReachesSql(`'admin'`, 'null'))).toBeNull();
    expect(await valueOf(roleReachesSql(`'other'`, `'viewer'`))).toBeNull();
  });

  it('return the highest required role, and the lowest role if no role is required', () => {
    expect(highestRole(['analyst', 'manager', undefined, 'viewer'])).toBe('manager');
    expect(highestRole([undefined])).toBe('viewer');
  });
});
