import { createValidationPipe } from '../platform/validation/validation.pipe.js';
import { ActionRollbackDto } from './actions.dto.js';

describe('The reason of a rollback', () => {
  const check = (reason: unknown): Promise<unknown> =>
    createValidationPipe().transform({ reason }, { type: 'body', metatype: ActionRollbackDto });

  it('is stored unchanged', async () => {
    await expect(check('a false alarm ')).resolves.toEqual({ reason: 'a false alarm ' });
  });

  it.each(['', ' ', '\t\n', undefined, null, 7])(
    'is rejected if it is blank: %j',
    async (reason) => {
      await expect(check(reason)).rejects.toMatchObject({ code: 'validation_error' });
    },
  );
});
