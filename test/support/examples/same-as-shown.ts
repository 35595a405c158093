/**
 * What may differ between an answer and its example, in one place: when something happened, ids and numbers of incidents
 * (each stands for one thing through the whole story), and the fields below.
 */
const MAY_DIFFER = new Set([
  // secrets, and what is made of them
  ...['key', 'prefix', 'hash', 'prompt_hash'],
  // what is measured or counted while the service runs
  ...['duration_ms', 'latency_ms', 'uptime_seconds', 'checked', 'unsealed', 'in_flight'],
  ...['oldest_unsealed_seconds', 'connections', 'busy', 'waiting', 'active', 'runs_waiting'],
  ...['request_id', 'address', 'version'],
]);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DURATION = /\d+\.\d s/g;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|INC-\d{4}-\d{4,}/g;

/** Which real ids stand for the ids of the story. */
export class Cast {
  private readonly byShown = new Map<string, string>();
  private readonly byReal = new Map<string, string>();

  /** The text with real ids in the place of those of the story. */
  real(text: string): string {
    return text.replace(ID, (id) => this.byShown.get(id) ?? id);
  }

  /** Whether both can be the same one. What appears for the first time is taken into the cast. */
  isSame(shown: string, real: string): boolean {
    const known = this.byShown.get(shown);
    if (known === undefined && !this.byReal.has(real)) {
      this.byShown.set(shown, real);
      this.byReal.set(real, shown);
      return true;
    }
    return known === real;
  }
}

interface Comparison {
  readonly cast: Cast;
  /** The example shows a part of the answer: fields, and items of lists, may be left out. */
  readonly part: boolean;
}

/** Where the answer differs from what the example shows. */
export function differences(
  shown: unknown,
  real: unknown,
  how: Comparison,
  place = '',
): readonly string[] {
  if (typeof shown === 'string' && typeof real === 'string') {
    return textsDiffer(shown, real, how.cast) ? [`${place}: ${shown} is ${real}`] : [];
  }
  if (Array.isArray(shown) && Array.isArray(real)) return listsDiffer(shown, real, how, place);
  if (!isObject(shown) || !isObject(real)) {
    return Object.is(shown, real) ? [] : [`${place}: ${String(shown)} is ${String(real)}`];
  }
  const names = new Set([...Object.keys(shown), ...(how.part ? [] : Object.keys(real))]);
  return [...names].flatMap((name) => {
    const inBoth = Object.hasOwn(shown, name) && Object.hasOwn(real, name);
    if (!inBoth) return [`${place}.${name} is only ${name in shown ? 'shown' : 'there'}`];
    if (MAY_DIFFER.has(name) && typeof shown[name] === typeof real[name]) return [];
    return differences(shown[name], real[name], how, `${place}.${name}`);
  });
}

function listsDiffer(
  shown: readonly unknown[],
  real: readonly unknown[],
  how: Comparison,
  place: string,
): readonly string[] {
  if (!how.part && shown.length !== real.length) return [`${place} has ${real.length} items`];
  return shown.flatMap((item, at) => {
    const here = differences(item, real[at], how, `${place}.${at}`);
    const isElsewhere = () => real.some((other) => differences(item, other, how).length === 0);
    return here.length > 0 && how.part && isElsewhere() ? [] : here;
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textsDiffer(shown: string, real: string, cast: Cast): boolean {
  if (TIME.test(shown) && TIME.test(real)) return false;
  const [ids, others] = [shown.match(ID) ?? [], real.match(ID) ?? []];
  const form = (text: string) => text.replace(ID, '*').replace(DURATION, '*');
  if (form(shown) !== form(real)) return true;
  return ids.some((id, at) => !cast.isSame(id, others[at]!));
}

/** The lines of a text that another one has none like: with the same fields when they are JSON, else with the same words. */
export function missingLines(shown: string, real: string): string[] {
  const forms = new Set(real.split('\n').map(formOf));
  return shown.split('\n').filter((line) => !forms.has(formOf(line)));
}

function formOf(line: string): string {
  if (!line.startsWith('{')) return line.replace(/ [\d.e+]+$/, '');
  const value = JSON.parse(line) as Readonly<Record<string, unknown>>;
  return `${String(value['type'])} ${Object.keys(value).sort().join()}`;
}
