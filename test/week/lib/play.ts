import { type Caller, type Shown, type Site, waitUntilIdle } from './site.ts';
import type { Post, Truth } from './tools.ts';
import type { Day } from './week.ts';

/** Incident of a generated event. */
export interface Story {
  readonly id: string;
  readonly number: string;
  readonly truth: Truth;
  /** Receipt of the event, or of the update that raised its severity, in Unix milliseconds. */
  readonly receivedAt: number;
  /** The incident with the verdict of triage, before people worked on it. */
  first?: Shown;
}

export interface Played {
  readonly stories: readonly Story[];
  readonly events: number;
  /** Rejected requests of tools and people. */
  readonly rejected: string[];
}

/** Plays the days in order: tools send events, the service processes the events, and people work on the incidents. */
export async function play(site: Site, days: readonly Day[]): Promise<Played> {
  const rejected: string[] = [];
  const known = new Map<string, Story>();
  let events = 0;
  for (const { posts, fails } of days) {
    await site.admin.request('PUT', `/api/connectors/${site.sandbox}`, { config: { fail: fails } });
    for (const burst of burstsOf(posts)) {
      if (!burst[0]!.atOnce) {
        await waitUntilIdle(site.admin);
        await site.passHour();
      }
      for (const { one, receivedAt, status, body } of await sendAll(site, burst)) {
        events += one.truths.length;
        if (status >= 300) rejected.push(`${one.source}: ${status} ${JSON.stringify(body.error)}`);
        const made: Shown[] = body.incidents ?? (body.incident_id ? [body] : []);
        made.forEach((receipt, index) => {
          const truth = one.truths[index]!;
          const { incident_id: id, incident_number: number } = receipt;
          if (truth.raised || !known.has(id)) known.set(id, { id, number, truth, receivedAt });
        });
      }
    }
    await waitUntilIdle(site.admin);
    const today = [...known.values()].filter(({ first }) => first === undefined);
    for (const story of today) story.first = await site.admin.get(`/api/incidents/${story.id}`);
    await workOn(site, today, known, rejected);
    await waitUntilIdle(site.admin);
    await site.passHour();
  }
  return { stories: [...known.values()], events, rejected };
}

/**
 * Groups the requests into bursts. The requests of a wave are one burst, so that they arrive together even on a slow
 * machine. Every other request is a separate burst.
 */
function burstsOf(posts: readonly Post[]): Post[][] {
  const bursts: Post[][] = [];
  for (const one of posts) {
    const isOfWave = one.atOnce && one.truths.some(({ wave }) => wave);
    if (isOfWave && bursts.length > 0) bursts.at(-1)!.push(one);
    else bursts.push([one]);
  }
  return bursts;
}

async function sendAll(site: Site, burst: readonly Post[]) {
  return await Promise.all(
    burst.map(async (one) => {
      const receivedAt = Date.now();
      return { one, receivedAt, ...(await site.send(one)) };
    }),
  );
}

/** Judges and closes some of the incidents, reopens one of them, and decides on approvals. */
async function workOn(
  site: Site,
  today: readonly Story[],
  known: ReadonlyMap<string, Story>,
  rejected: string[],
): Promise<void> {
  const { analyst } = site.people;
  const change = async (who: Caller, { id, number }: Story, body: object) => {
    const { status, body: answer } = await who.ask('PUT', `/api/incidents/${id}`, body);
    if (status >= 300) rejected.push(`${who.name}, ${number}: ${status} ${answer.error.message}`);
  };
  const closing = (truth: Truth): object => ({
    status: 'resolved',
    resolution: truth.malicious ? 'Contained.' : 'Nothing to it.',
    pending: 'withdraw',
  });
  for (const [index, story] of today.entries()) {
    const { truth, first } = story;
    const isUnsure = !['malicious', 'benign'].includes(first.verdict?.classification);
    if (index % 3 === 0 && isUnsure) {
      const classification = truth.malicious ? 'malicious' : 'benign';
      await change(analyst, story, { verdict: { classification, reasoning: 'Looked at.' } });
    }
    if (!truth.malicious && index % 2 === 0) await change(analyst, story, closing(truth));
  }
  const mistaken = today.find(({ truth }) => truth.malicious);
  if (mistaken) {
    await change(analyst, mistaken, closing(mistaken.truth));
    await change(site.people.senior, mistaken, { status: 'triaged', reopen: true });
  }
  await waitUntilIdle(site.admin);
  await decideOnApprovals(site, known, rejected);
}

/**
 * Approves actions against attacks and rejects all others. Lets one of ten expire, but decides on all actions of the
 * wave.
 */
async function decideOnApprovals(
  site: Site,
  known: ReadonlyMap<string, Story>,
  rejected: string[],
): Promise<void> {
  const waiting = await site.admin.list('/api/actions?status=pending_approval&sort=requested_at');
  for (const action of waiting) {
    const story = known.get(action.incident_id);
    if (story?.number.endsWith('7') && !story.truth.wave) continue;
    const who = site.people[action.approval_level as keyof Site['people']];
    const isRight = story?.truth.malicious === true;
    const [verb, body] = isRight
      ? (['approve', { comment: 'Agreed.' }] as const)
      : (['reject', { reason: 'It is harmless.' }] as const);
    const { status, body: answer } = await who.ask(
      'POST',
      `/api/actions/${action.id}/${verb}`,
      body,
    );
    if (status >= 300)
      rejected.push(`${who.name}, ${action.id}: ${status} ${answer.error.message}`);
  }
}
