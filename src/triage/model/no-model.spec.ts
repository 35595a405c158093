import { NoModel } from './no-model.js';

describe('NoModel', () => {
  it('gives no verdict and says what to configure', async () => {
    const model = new NoModel();
    expect(model.provider).toBe('none');
    await expect(model.judge()).rejects.toMatchObject({
      reason: 'not_configured',
      message: expect.stringContaining('TRIAGE_PROVIDER'),
      extras: { mayHelpLater: true, needsOperator: true },
    });
  });
});
