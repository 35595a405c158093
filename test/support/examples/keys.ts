import { DataSource } from 'typeorm';
import type { Role } from '../../../src/platform/access/roles.js';
import { makeKey } from '../principals.js';
import type { TestApp } from '../test-app.js';
import type { Actor } from './scene.js';

const ROLES: Readonly<Record<Exclude<Actor, 'nobody'>, Role>> = {
  alice: 'analyst',
  bob: 'senior',
  carol: 'manager',
  admin: 'admin',
};

const made = new Map<Actor, Promise<string>>();

/** A key of a person of the story: where persons count, it counts as that person. */
export function keyOf(app: TestApp, actor: Exclude<Actor, 'nobody'>): Promise<string> {
  const key = made.get(actor) ?? makeFor(app, actor);
  made.set(actor, key);
  return key;
}

async function makeFor(app: TestApp, actor: Exclude<Actor, 'nobody'>): Promise<string> {
  const { id, key } = await makeKey(app, ROLES[actor], { name: `${actor}-program` });
  await app.nest.get(DataSource).query(
    `update api_keys set created_by = $2, owner_id = (select id from users where username = $2)
       where id = $1`,
    [id, actor],
  );
  return key;
}
