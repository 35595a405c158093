import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { ACCESS, type Access } from '../../src/platform/access/access.js';
import { ROLES } from '../../src/platform/access/roles.js';
import { isIdempotent } from '../../src/platform/idempotency/idempotency.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** POST handlers that need no Once, and why. Adding one is a decision: they change nothing that a repetition could. */
const CHANGES_NOTHING: Readonly<Record<string, string>> = {
  'ConnectorsController.test':
    'Asks a vendor for a sign of life; asked twice it answers as of now.',
  'PlaybooksController.validate': 'Checks what it is sent and keeps nothing.',
  'WebhookSourcesController.preview': 'Shows what a body would make, and makes nothing.',
};

type Handlers = Record<string, (...args: unknown[]) => unknown>;

function postHandlers(app: TestApp): { name: string; once: boolean }[] {
  const reflector = app.nest.get(Reflector);
  const scanner = new MetadataScanner();
  return [...app.nest.get(ModulesContainer).values()].flatMap(({ controllers }) =>
    [...controllers.values()].flatMap(({ metatype }) => {
      const { prototype, name } = metatype as { prototype: Handlers; name: string };
      return scanner
        .getAllMethodNames(prototype)
        .filter((method) => {
          const handler = prototype[method]!;
          const access = reflector.getAllAndOverride<Access>(ACCESS, [handler, metatype as never]);
          return (
            Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.POST &&
            ROLES.some((role) => role === access)
          );
        })
        .map((method) => ({ name: `${name}.${method}`, once: isIdempotent(prototype, method) }));
    }),
  );
}

describe('Every POST of a principal', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it('answers once, or is listed with the reason why it need not', () => {
    const handlers = postHandlers(app);
    expect(handlers.length).toBeGreaterThan(2);
    const forgotten = handlers.filter(({ name, once }) => !once && !(name in CHANGES_NOTHING));
    expect(forgotten.map(({ name }) => name)).toEqual([]);
  });

  it('is not listed although it answers once', () => {
    const needless = postHandlers(app).filter(({ name, once }) => once && name in CHANGES_NOTHING);
    expect(needless).toEqual([]);
  });
});
