import { resolve } from 'node:path';
import { codeEdits } from '../../scripts/mutation/code-operators.js';
import { mutantOf } from '../../scripts/mutation/mutant.js';
import { sampleOf } from '../../scripts/mutation/sample.js';
import { isSql } from '../../scripts/mutation/sql-operators.js';
import { missing } from '../../scripts/mutation/targets.js';

/** What becomes of the line, fault by fault. */
function faultsIn(source: string): string[] {
  return codeEdits('some.ts', source).map((edit) => mutantOf('some.ts', source, edit).after);
}

describe('the faults that a mutation run puts in', () => {
  it('change what code decides', () => {
    expect(faultsIn('const due = age >= limit && !held;')).toEqual([
      'const due = age >= limit || !held;',
      'const due = (age >= limit);',
      'const due = (!held);',
      'const due = age > limit && !held;',
      'const due = age >= limit && held;',
    ]);
    expect(faultsIn('if (gone) throw lost;')).toEqual(['if (!(gone)) throw lost;', ';']);
    expect(faultsIn('const shown = open ? 0 : 2;')).toEqual([
      'const shown = !(open) ? 0 : 2;',
      'const shown = open ? 1 : 2;',
      'const shown = open ? 0 : 3;',
      'const shown = open ? 0 : 1;',
    ]);
    expect(faultsIn('await finish(true);')).toEqual([';', 'await finish(false);']);
  });

  it('leave alone what nobody could see', () => {
    for (const source of [
      ``,
      'type Flag = true;',
      'interface Row { readonly n: 1 }',
      'const PAUSE_MS = 500;',
      `this.log.warn('It is late.');`,
      `const text = 'Nothing was sent, and where it went is not known.';`,
    ]) {
      expect(faultsIn(source)).toEqual([]);
    }
  });

  it('change which rows a statement is about', () => {
    const sql = (text: string) =>
      faultsIn(`const S = \`${text}\`;`).map((one) => one.slice(11, -2));
    expect(
      sql('update t set a = 1 where id = $1 and n < now() for update of t skip locked'),
    ).toEqual([
      'update t set a = 1 where id >= $1 and n < now() for update of t skip locked',
      'update t set a = 1 where id = $1 and n <= now() for update of t skip locked',
      'update t set a = 1 where true and n < now() for update of t skip locked',
      'update t set a = 1 where id = $1 for update of t skip locked',
      'update t set a = 1 where id = $1 and n < now()',
      'update t set a = 1 where id = $1 and n < now() for update of t',
    ]);
    expect(sql("${OURS} and phase in ('a', 'b') and x is null ${RETURNING}")).toEqual([
      '${OURS} and x is null ${RETURNING}',
      "${OURS} and phase in ('a', 'b') ${RETURNING}",
      "true and phase in ('a', 'b') and x is null ${RETURNING}",
      "${OURS} and phase in ('a', 'b') and x is not null ${RETURNING}",
    ]);
    expect(sql('select a from t where not sent order by a limit $2')).toEqual([
      'select a from t where sent order by a limit $2',
      'select a from t where not sent order by a ',
      'select a from t where not sent order by a desc limit $2',
    ]);
  });

  it('are looked for in statements, and not in what is said to people', () => {
    expect(isSql('id = $1 and fence = $2')).toBe(true);
    expect(isSql('lease_until = now() + $1')).toBe(false);
    expect(isSql('Select one where you are.')).toBe(false);
  });

  it('are the same for the same seed, and others for another', () => {
    const all = Array.from({ length: 200 }, (_, n) => n);
    const first = sampleOf(all, 20, 1);
    expect(first).toHaveLength(20);
    expect(new Set(first).size).toBe(20);
    expect(sampleOf(all, 20, 1)).toEqual(first);
    expect(sampleOf(all, 5, 1)).toEqual(first.slice(0, 5));
    expect(sampleOf(all, 20, 2)).not.toEqual(first);
    expect(sampleOf(all, 900, 1).sort((a, b) => a - b)).toEqual(all);
  });

  it('are put into files that are there, and judged by specs that are there', () => {
    expect(missing(resolve(__dirname, '../..'))).toEqual([]);
  });
});
