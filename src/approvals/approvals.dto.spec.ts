import { createValidationPipe } from '../platform/validation/validation.pipe.js';
import { ActionRejectionDto } from './approvals.dto.js';

describe('The reason of a rejection', () => {
  const check = (reason: unknown): Promise<unknown> =>
    createValidationPipe().transform({ reason }, { type: 'body', metatype: ActionRejectionDto });

  it('is stored unchanged', async () => {
    await expect(check(' A domain controller. ')).resolves.toEqual({
      reason: ' A domain controller. ',
    });
  });

  it.each(['', ' ', '\t\n', undefined, null, 7])(
    'is rejected if it is blank: %j',
    async (reason) => {
      await expect(check(reason)).rejects.toMatchObject({ code: 'validation_error' });
    },
  );
});
