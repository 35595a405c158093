import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChannelType } from '../../src/notifications/channel-type.js';
import type { ConnectorType } from '../../src/connectors/connector-type.js';
import { TypesByName } from '../../src/targets/target-check.js';

/** Rehearses CONTRIBUTING.md: one file adds a connector type or a channel type. */
describe('a new file in a folder of types', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(__dirname, 'types-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('adds a connector type with its actions and its connection test', async () => {
    writeFileSync(
      join(folder, 'door-guard.ts'),
      `import { defineConnector } from '../../../src/connectors/connector-type.js';
       import { fields } from '../../../src/targets/target-config.js';
       export const doorGuard = defineConnector({
         name: 'door_guard',
         description: 'Locks doors.',
         config: fields({ building: { type: 'string', description: 'Name of the building.' },}),
         connect: (config) => () => config,
         actions: { isolate_host: { idempotent: true, send: async ({ building }) => ({ kind: 'done', message: building }) } },
         test: async ({ building }) => building,
       });`,
    );
    const type = new TypesByName<ConnectorType>(folder).named('door_guard');
    expect(Object.keys(type.actions)).toEqual(['isolate_host']);
    expect(type.config.required).toEqual(['building']);
  });

  it('adds a channel type', () => {
    writeFileSync(
      join(folder, 'siren.ts'),
      `import { defineHook } from '../../../src/notifications/channel-type.js';
       export const siren = defineHook({
         name: 'siren',
         description: 'Sounds a siren.',
         hook: 'The address of the siren.',
         bodyOf: ({ title }) => ({ title }),
         read: () => ({ kind: 'delivered' }),
       });`,
    );
    const type = new TypesByName<ChannelType>(folder).named('siren');
    expect(type.config.required).toEqual(['webhook_url']);
  });
});
