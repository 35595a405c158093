import type { ApiClient } from './api-client.js';

interface Change {
  readonly event: string;
  readonly change_id?: string;
  readonly incident_id: string;
  readonly changed?: readonly string[];
  readonly incident?: Readonly<Record<string, unknown>>;
}

/** Program that follows a feed and keeps the cursor, as the contract describes. */
export class ChangeReader {
  readonly changes: Change[] = [];
  cursor: string | undefined;

  constructor(
    public client: ApiClient,
    private readonly options: { readonly path?: string; readonly limit?: number } = {},
  ) {}

  /** @returns the data of the answer */
  async next(query = ''): Promise<{ changes: Change[]; cursor: string; has_more: boolean }> {
    const { path = '/api/incidents/changes', limit = 100 } = this.options;
    const at = this.cursor === undefined ? query : `&cursor=${this.cursor}${query}`;
    const answer = await this.client.get(`${path}?limit=${limit}${at}`);
    if (answer.status !== 200) throw new Error(answer.text);
    const { data } = answer.body;
    this.changes.push(...data.changes);
    this.cursor = data.cursor;
    return data;
  }

  async toTheEnd(): Promise<void> {
    while ((await this.next()).has_more);
  }

  idsOf(event: string): string[] {
    return this.changes.filter((one) => one.event === event).map((one) => one.incident_id);
  }
}
