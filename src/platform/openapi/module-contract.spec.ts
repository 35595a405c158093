import { Descriptions, type ModuleContract } from './module-contract.js';

describe('Descriptions', () => {
  const contracts: ModuleContract[] = [
    { schemas: { Thing: 'A thing.' } },
    { schemas: { Part: 'A part of it.' } },
  ];

  it('reads the descriptions of all modules', () => {
    const schemas = new Descriptions('schemas', contracts);
    expect(['Thing', 'Part', 'Other'].map((name) => schemas.of(name))).toEqual([
      'A thing.',
      'A part of it.',
      undefined,
    ]);
    expect(() => schemas.refuseUnused()).not.toThrow();
  });

  it('refuses a description that the contract does not use', () => {
    const schemas = new Descriptions('schemas', contracts);
    schemas.of('Thing');
    expect(() => schemas.refuseUnused()).toThrow(
      'The contract uses no description of schemas: Part.',
    );
  });
});
