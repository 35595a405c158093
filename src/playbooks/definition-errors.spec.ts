import { definitionErrors } from './definition-errors.js';

describe('definitionErrors', () => {
  it('names fields as requests do, and the character as people count', () => {
    expect(
      definitionErrors([
        { step: 2, field: '/condition', position: { offset: 0 }, message: 'No.' },
        { step: 0, field: '/parameters/a~1b', message: 'Why.' },
        { field: '/variables/Foo', message: 'Hm.' },
        { field: '', message: 'Large.' },
      ]),
    ).toEqual([
      { field: 'steps.2.condition', code: 'expression', message: 'At character 1: No.' },
      { field: 'steps.0.parameters.a/b', code: 'playbook', message: 'Why.' },
      { field: 'variables.Foo', code: 'playbook', message: 'Hm.' },
      { field: '', code: 'playbook', message: 'Large.' },
    ]);
  });
});
