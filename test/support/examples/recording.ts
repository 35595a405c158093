/**
 * Makes recorded responses reproducible: ids, times and measured values get fixed values. An id or a time has the same
 * fixed value wherever it occurs in the story.
 */
export class Recording {
  private readonly ids = new Map<string, string>();
  private readonly scenes: number[] = [];

  begin(): void {
    this.scenes.push(Date.now());
  }

  normalised(value: unknown, field = ''): unknown {
    if (Array.isArray(value)) return value.map((item) => this.normalised(item, field));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, child]) => [key, this.normalised(child, key)]),
      );
    }
    const fixed = FIXED[field];
    if (fixed !== undefined && typeof fixed === typeof value) return fixed;
    return typeof value === 'string' ? this.normalisedText(value) : value;
  }

  private normalisedText(text: string): string {
    if (text.startsWith('{') && text.endsWith('}\n')) return this.normalisedLines(text);
    return text
      .replace(ID, (id) => this.idOf(id))
      .replace(TIME, (time) => this.timeOf(time))
      .replace(DURATION, '1.2 s')
      .replace(LOCAL, 'https://hooks.example.com');
  }

  private normalisedLines(text: string): string {
    const lines = text.trim().split('\n');
    return lines.map((line) => `${JSON.stringify(this.normalised(JSON.parse(line)))}\n`).join('');
  }

  private idOf(id: string): string {
    const known = this.ids.get(id);
    if (known) return known;
    const at = this.ids.size + 1;
    const made = id.startsWith('INC-')
      ? `INC-2026-${String(at).padStart(4, '0')}`
      : `019c136e-4646-7000-8000-${at.toString(16).padStart(12, '0')}`;
    this.ids.set(id, made);
    return made;
  }

  /**
   * Converts a time to the time of its scene: one scene takes twenty seconds. Future times, such as the end of a
   * session, keep their distance.
   */
  private timeOf(text: string): string {
    const time = Date.parse(text);
    const first = this.scenes[0]!;
    if (time < first - A_DAY) return text;
    const ahead = Math.max(0, Math.floor((time - first) / LONGEST_STORY) * LONGEST_STORY);
    const scene = this.scenes.findLastIndex((begin) => begin <= time - ahead);
    return new Date(BEGIN + scene * SCENE + ahead).toISOString();
  }
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|INC-\d{4}-\d{4,}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const DURATION = /\b\d+\.\d s\b/g;
const LOCAL = /http:\/\/127\.0\.0\.1:\d+/g;
const BEGIN = Date.parse('2026-01-31T09:00:00.000Z');
const SCENE = 20_000;
const A_DAY = 86_400_000;
/** Longer than the story, and a divisor of every time limit of the service. */
const LONGEST_STORY = 600_000;
const HASH = 'e7245c02fa85453515ee642b5d0ef83395763dc00457cc87c127937c136f866a';

/**
 * Fixed values of secrets, and of fields that the service measures or counts. Only a value of the same type is
 * replaced.
 */
const FIXED: Readonly<Record<string, unknown>> = {
  key: 'its_Qm7xT2bN_4vJ8wYc1LzK0sPdRgUe5fHaXn3oBtMi6qVjZyWkC9lS',
  prefix: 'its_Qm7xT2bN',
  hash: HASH,
  prompt_hash: HASH,
  mac: HASH,
  writer: '0193f2b6-0000-7a0b-9f4e-2f0a7b6c5d4c',
  written: '0',
  key_id: '5f0c9a3e',
  seq: '1',
  last_seq: '1',
  cursor: 'WzEsImluY2lkZW50cyIsMTc2OTg1MjY0MDA4NF0',
  address: '198.51.100.7',
  version: '0.1.0',
  request_id: '019c138d-6704-7000-a012-264bc847fa9a',
  duration_ms: 12,
  latency_ms: 42,
  uptime_seconds: 86_400,
  clock_offset_seconds: 0,
  checked: 1_284,
  sealed: 1_284,
  unsealed: 3,
  in_flight: 0,
  oldest_unsealed_seconds: 0,
  connections: 4,
  busy: 1,
  waiting: 0,
  active: 0,
  runs_waiting: 0,
};
