import { readFileSync } from 'node:fs';
import { type OpenApiDocument, operationsOf } from '../../scripts/contract/document.js';
import { fieldErrorCodes } from '../support/field-error-codes.js';

interface Rejection {
  readonly operations: readonly string[];
  readonly field: string;
  readonly code: string;
  readonly reason: string;
}

const read = (file: string): unknown => JSON.parse(readFileSync(`openapi/${file}`, 'utf8'));

describe('the list of what is refused although it fits the document', () => {
  const list = read('fuzz-rejections.json') as readonly Rejection[];
  const ids = operationsOf(read('openapi.json') as OpenApiDocument).map(
    ({ operation }) => operation.operationId,
  );

  it('names operations and codes that there are', () => {
    const codes = fieldErrorCodes();
    for (const { operations, code } of list) {
      expect(operations.filter((id) => !ids.includes(id))).toEqual([]);
      for (const one of code.split('|')) {
        const pattern = new RegExp(`^(${one})$`);
        expect([one, codes.some((known) => pattern.test(known))]).toEqual([one, true]);
      }
    }
  });

  it('says why no schema says it', () => {
    for (const { reason } of list) expect(reason).toMatch(/^[A-Z].{8,}\.$/);
  });
});
