import { readFileSync } from 'node:fs';

/** SQL of the chapter "A lost key" in docs/operations.md: for the secrets, and for the audit trail. */
export function lostKeySql(keyId: string): { readonly secrets: string; readonly trail: string } {
  const [, chapter] = readFileSync('docs/operations.md', 'utf8').split('### A lost key\n');
  const [secrets, trail] = [...chapter!.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql]) =>
    sql!.replaceAll('KEY_ID', keyId),
  );
  return { secrets: secrets!, trail: trail! };
}
