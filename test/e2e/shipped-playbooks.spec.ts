import { DataSource } from 'typeorm';
import { PlaybooksService, SHIPPED_PLAYBOOKS } from '../../src/playbooks/playbooks.service.js';
import { as } from '../support/principals.js';
import { useReplicas, useStarted } from '../support/use-started.js';

describe('The shipped playbooks', () => {
  const replicas = useReplicas();
  const admin = useStarted(() => as(replicas[0], 'admin'));

  const listed = async () => (await admin.get('/api/playbooks?sort=name&per_page=100')).body.data;
  const bootAll = () =>
    Promise.all(replicas.map(({ nest }) => nest.get(PlaybooksService).onApplicationBootstrap()));

  it('are created once at the first start, do not run automatically, and are valid as input', async () => {
    const names = SHIPPED_PLAYBOOKS.map(({ name }) => name);
    const playbooks = await listed();
    expect(playbooks.map(({ name }: { name: string }) => name)).toEqual(names.toSorted());
    const audit = await admin.get('/api/audit?action=playbook.created');
    expect(audit.body.data).toHaveLength(names.length);
    for (const playbook of playbooks) {
      expect(playbook).toMatchObject({
        version: 1,
        enabled: true,
        auto_run: false,
        trust_verdict: false,
        created_by: 'system',
        description: expect.any(String),
        instructions: expect.any(String),
      });
      const { id, version, created_by, created_at, updated_by, updated_at, ...body } = playbook;
      const again = await admin.put(`/api/playbooks/${id}`, body);
      expect([again.status, again.body.data]).toEqual([
        200,
        { ...body, id, version, created_by, created_at, updated_by, updated_at },
      ]);
    }
  });

  it('stay changed or deleted after another start', async () => {
    await admin.delete('/api/playbooks/phishing-response');
    await admin.put('/api/playbooks/suspicious-login', { steps: [] });
    const before = await listed();
    expect(before).toHaveLength(SHIPPED_PLAYBOOKS.length - 1);
    await bootAll();
    expect(await listed()).toEqual(before);
    for (const { name } of before) await admin.delete(`/api/playbooks/${name}`);
    await bootAll();
    expect(await listed()).toEqual([]);
  });

  it('are created once when replicas start for the first time together', async () => {
    const database = replicas[0].nest.get(DataSource);
    await database.query('alter table playbook_versions disable trigger user');
    await database.query('delete from playbook_versions');
    await database.query('delete from playbooks');
    await bootAll();
    expect(await listed()).toHaveLength(SHIPPED_PLAYBOOKS.length);
  });
});
