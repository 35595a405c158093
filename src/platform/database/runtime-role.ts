import { Client } from 'pg';
import { AdvisoryLock } from './advisory-locks.js';
import { withLibpqMeaning } from './connection.js';

/** Rights on tables that the running service may not change freely. On all other tables it has `ALL`. */
const LESS_THAN_ALL: Readonly<Record<string, string>> = {
  audit_log: 'select, insert',
  audit_seals: 'select, insert',
  audit_chain: 'select, insert, update',
  audit_attestations: 'select, insert, update',
  playbook_versions: 'select, insert',
  schema_migrations: 'select',
};
const ALL = 'select, insert, update, delete';

class RuntimeRoleError extends Error {}

/**
 * Grants the role of the service the rights that it needs and no others. The role owns no table, so it can neither
 * disable a trigger nor change the schema. The grants are repeated after each migration, which may have added tables.
 */
export async function grantRuntime(ownerUrl: string, runtimeUrl: string): Promise<void> {
  const role = decodeURIComponent(new URL(runtimeUrl).username);
  const owner = new Client({ connectionString: withLibpqMeaning(ownerUrl) });
  // A broken connection rejects the current statement.
  owner.on('error', () => undefined);
  await owner.connect();
  try {
    await owner.query('begin');
    await owner.query(`select pg_advisory_xact_lock(${AdvisoryLock.Grants})`);
    await requireLesserRole(owner, role);
    for (const statement of await grantsFor(owner, role)) {
      await owner.query(statement);
    }
    await owner.query('commit');
  } finally {
    await owner.end();
  }
}

/** Rejects a role with the rights of the owner, because two roles would then be useless. */
async function requireLesserRole(owner: Client, role: string): Promise<void> {
  const { rows } = await owner.query<{ greater: boolean; owner: string }>(
    `select current_user as owner, rolsuper or pg_has_role(oid, current_user, 'USAGE') as greater
     from pg_roles where rolname = $1`,
    [role],
  );
  const [found] = rows;
  if (!found) throw new RuntimeRoleError(`The role "${role}" of DATABASE_URL does not exist.`);
  if (!found.greater) return;
  throw new RuntimeRoleError(
    `The role "${role}" of DATABASE_URL has the rights of "${found.owner}" of MIGRATION_DATABASE_URL. Use a role that owns nothing.`,
  );
}

async function grantsFor(owner: Client, role: string): Promise<string[]> {
  const { rows } = await owner.query<{
    kind: string;
    schema: string;
    name: string;
    quoted: string;
  }>(OWNED);
  const to = owner.escapeIdentifier(role);
  const schemas = [...new Set(rows.map(({ schema }) => schema))];
  return [
    ...schemas.map((schema) => `grant usage on schema ${schema} to ${to}`),
    ...rows.flatMap(({ kind, name, quoted }) => {
      if (kind === 'function') return [`grant execute on routine ${quoted} to ${to}`];
      if (kind === 'sequence') return [`grant usage, select on sequence ${quoted} to ${to}`];
      return [
        `revoke all on table ${quoted} from ${to}`,
        `grant ${LESS_THAN_ALL[name] ?? ALL} on table ${quoted} to ${to}`,
      ];
    }),
  ];
}

/** Everything that the current role may grant, in the schema of the service. */
const OWNED = `
  with ours as (
    select oid, quote_ident(nspname) as schema from pg_namespace
     where nspname = current_schema())
  select case when c.relkind = 'S' then 'sequence' else 'table' end as kind, schema, relname::text as name,
         c.oid::regclass::text as quoted
    from pg_class c join ours on ours.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'S') and pg_has_role(c.relowner, 'USAGE')
  union all
  select 'function', schema, proname::text, p.oid::regprocedure::text
    from pg_proc p join ours on ours.oid = p.pronamespace
   where pg_has_role(p.proowner, 'USAGE')
   order by 1, 2, 3`;
