import { HealthComponents } from './health-components.js';

describe('HealthComponents', () => {
  it('rejects a second check of a component', () => {
    const components = new HealthComponents();
    const register = () => components.register('jobs', async () => ({ status: 'healthy' }));
    register();
    expect(register).toThrow('The component jobs is registered twice.');
  });
});
