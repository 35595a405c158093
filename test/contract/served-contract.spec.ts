import { readFileSync } from 'node:fs';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('the served contract', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it.each([
    ['openapi.json', 'application/json; charset=utf-8'],
    ['openapi.yaml', 'application/yaml; charset=utf-8'],
  ])('%s is the committed file, open to anyone', async (name, type) => {
    const answer = await fetch(`${app.url}/${name}?whatever=1`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(type);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.equals(readFileSync(`openapi/${name}`))).toBe(true);
  });
});
