import { DeadJobs, Jobs, defineQueue } from '../../src/platform/jobs/jobs.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { Injectable, Module } from '@nestjs/common';
import { eventually } from '../support/jobs/eventually.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const queue = defineQueue<{ n: number }>('hopeless', { retryLimit: 0 });
let broken = true;
const done: number[] = [];

@Injectable()
class Hopeless {
  constructor(jobs: Jobs) {
    jobs.work(queue, async ({ n }) => {
      if (broken) throw new Error('It cannot be done.');
      done.push(n);
    });
  }
}

@Module({ providers: [Hopeless] })
class HopelessModule {}

describe('the API of dead jobs', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ modules: [HopelessModule] });
  });

  afterAll(() => app.close());

  it('shows an admin dead jobs with what went wrong, and puts them back into their queue', async () => {
    await app.nest.get(Transactions).run((tx) => app.nest.get(Jobs).enqueue(tx, queue, { n: 1 }));
    await eventually(
      () => app.nest.get(DeadJobs).list({ page: 1, per_page: 1 }),
      ({ total }) => total === 1,
    );
    const admin = await as(app, 'admin');
    const listed = await admin.request('GET', '/api/jobs/dead?queue=hopeless');
    expect(listed.body.data).toMatchObject([
      { queue: 'hopeless', attempts: 1, error: 'It cannot be done.' },
    ]);
    expect(listed.body.meta).toEqual({ page: 1, per_page: 20, total: 1 });

    expect(samplesWith(await scrape(app), 'jobs_dead').map(({ value }) => value)).toEqual([1]);

    broken = false;
    const { id } = listed.body.data[0];
    const requeued = await admin.request('POST', `/api/jobs/dead/${id}/requeue`);
    expect(requeued).toMatchObject({ status: 200, body: { data: { id, requeued: true } } });
    await eventually(
      () => Promise.resolve(done),
      (all) => all.length === 1,
    );
    expect((await admin.request('GET', '/api/jobs/dead')).body.meta.total).toBe(0);
    expect((await admin.request('GET', '/api/audit?action=job.requeued')).body.data).toHaveLength(
      1,
    );
  });

  it.each(['nonsense', '00000000-0000-0000-0000-000000000000'])(
    'answers 404 for the id %s of no dead job',
    async (id) => {
      const admin = await as(app, 'admin');
      expect((await admin.request('POST', `/api/jobs/dead/${id}/requeue`)).status).toBe(404);
    },
  );
});
