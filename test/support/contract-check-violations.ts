import type { ContractCheck, ObservedAnswer } from './contract-check.js';

/** An answer that breaks the contract fails the test that made the request. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

const pending: string[] = [];

export function recordViolations(check: ContractCheck, answer: ObservedAnswer): void {
  const problems = check.problems(answer);
  if (problems.length === 0) return;
  const lines = problems.map((problem) => `  - ${problem}`).join('\n');
  pending.push(
    `${answer.method} ${answer.url} broke the contract (openapi/openapi.json):\n${lines}\n  answer: ${answer.status} ${answer.body.slice(0, 500)}`,
  );
}

/** What has been found since the last look; whoever takes it says so in the test. */
export function takeViolations(): string[] {
  return pending.splice(0);
}

export function throwViolations(): void {
  const found = takeViolations();
  if (found.length > 0) throw new ContractViolation(found.join('\n'));
}

// Also for requests that went past the client: importing a test app is enough for its answers to count.
if (typeof afterEach === 'function') afterEach(throwViolations);
if (typeof afterAll === 'function') afterAll(throwViolations);
