import type { Played, Story } from './play.ts';
import type { SampleRuns } from './samples.ts';
import { type Message, PLAYBOOKS, type Shown, type Site } from './site.ts';

/** Row of the table. `value` is compared with the bound; lower is better. */
export interface Row {
  readonly name: string;
  readonly shown: string;
  readonly value: number;
  readonly unit?: '%' | 's';
  readonly details: readonly string[];
}

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);
const countOf = (part: number, whole: number): string =>
  `${part} of ${whole} (${Math.round(percent(part, whole))} %)`;
const describe = ({ number, first }: Story): string =>
  `${number} (${first.source}): ${first.verdict?.classification}, ${first.title}`;

/** Messages and deliveries of the week, except those about the samples. */
export interface Received {
  readonly messages: readonly Message[];
  readonly deliveries: readonly Shown[];
}

export async function measure(
  site: Site,
  { stories }: Played,
  received: Received,
  samples: SampleRuns,
): Promise<Row[]> {
  const runs = await allRuns(site);
  return [
    stepsThatFail(runs, samples),
    await quarantines(site, stories),
    typesOther(stories),
    ...verdictsOnTold(stories),
    plainMail(stories),
    ...messages(stories, received),
    latency(stories, received),
    await unseenFailures(site, stories, samples, runs),
  ];
}

async function allRuns({ admin }: Site): Promise<Shown[]> {
  const list = await admin.list('/api/playbook-runs');
  const runs: Shown[] = [];
  for (const { run_id: id } of list) runs.push(await admin.get(`/api/playbook-runs/${id}`));
  return runs;
}

/**
 * Counts failed steps without an action in runs of shipped playbooks. The condition or the parameters of such a step
 * could not be evaluated.
 */
function stepsThatFail(runs: readonly Shown[], { failing, dryRuns }: SampleRuns): Row {
  const shipped = runs.filter(({ playbook }) => PLAYBOOKS.includes(playbook));
  const details = shipped.flatMap(({ playbook, incident_id: id, steps }) =>
    (steps as Shown[])
      .filter(({ status, action_id: action }) => status === 'failed' && action === undefined)
      .map(({ name, error }) => `${playbook}, ${id}, ${name}: ${error}`),
  );
  const value = details.length + failing.length;
  const shown = `${value} in ${dryRuns} dry and ${shipped.length} real runs`;
  return { name: 'steps that fail to evaluate', shown, value, details: [...failing, ...details] };
}

async function quarantines({ admin }: Site, stories: readonly Story[]): Promise<Row> {
  const asked = new Set(
    (await admin.list('/api/actions?action_type=quarantine_email')).map(
      ({ incident_id: id }) => id as string,
    ),
  );
  const judged: Story[] = [];
  for (const story of stories.filter(({ truth }) => truth.deliveredMail && truth.malicious)) {
    const { verdict } = await admin.get(`/api/incidents/${story.id}`);
    if (verdict?.classification === 'malicious') judged.push(story);
  }
  const missed = judged.filter(({ id }) => !asked.has(id));
  return {
    name: 'delivered mails judged malicious whose quarantine was not asked for',
    shown: countOf(missed.length, judged.length),
    value: missed.length,
    details: missed.map(describe),
  };
}

function typesOther(stories: readonly Story[]): Row {
  const others = stories.filter(({ first }) => first.incident_type === 'other');
  const wrong = stories.filter(({ first, truth }) => !truth.types.includes(first.incident_type));
  return {
    name: 'incidents of type `other`',
    shown: countOf(others.length, stories.length),
    value: percent(others.length, stories.length),
    unit: '%',
    details: wrong.map(
      ({ number, first }) => `${number} (${first.source}): ${first.incident_type}, ${first.title}`,
    ),
  };
}

function verdictsOnTold(stories: readonly Story[]): Row[] {
  const critical = stories.filter(({ truth }) => truth.toolSays);
  const are = (classification: string) =>
    critical.filter(({ first }) => first.verdict?.classification === classification);
  const unsure = critical.filter(
    ({ first }) => !['malicious', 'suspicious', 'benign'].includes(first.verdict?.classification),
  );
  const benign = are('benign');
  return [
    {
      name: 'alerts that the tool calls critical, malicious or confirmed: `inconclusive`',
      shown: countOf(unsure.length, critical.length),
      value: percent(unsure.length, critical.length),
      unit: '%',
      details: unsure.map(describe),
    },
    {
      name: 'the same: false `benign`',
      shown: String(benign.length),
      value: benign.length,
      details: benign.map(describe),
    },
  ];
}

function plainMail(stories: readonly Story[]): Row {
  const plain = stories.filter(({ truth }) => truth.plainMail);
  const bad = plain.filter(({ first }) =>
    ['malicious', 'suspicious'].includes(first.verdict?.classification),
  );
  return {
    name: 'newsletters and other plain mail: `suspicious` or worse',
    shown: countOf(bad.length, plain.length),
    value: percent(bad.length, plain.length),
    unit: '%',
    details: bad.map(describe),
  };
}

function messages(stories: readonly Story[], { messages: all }: Received): Row[] {
  const numbers = stories.filter(({ truth }) => truth.wave).map(({ number }) => number);
  // Excludes messages that name any other incident, such as approvals of the next hour.
  const ofWave = all.filter(({ words }) => {
    const named = words.match(/INC-\d{4}-\d+/g) ?? [];
    return named.length > 0 && named.every((number) => numbers.includes(number));
  });
  const kinds = (some: readonly Message[]): string[] => {
    const counts = new Map<string, number>();
    for (const { headline } of some) {
      const kind = headline
        .replace(/^\[\w+\] /, '')
        .replace(/(?: for)?:? INC-.*/, '')
        .replace(/\d+/g, 'N');
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return [...counts].toSorted((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} ${kind}`);
  };
  return [
    {
      name: 'messages to people',
      shown: String(all.length),
      value: all.length,
      details: kinds(all),
    },
    {
      name: 'messages about the wave of 40',
      shown: String(ofWave.length),
      value: ofWave.length,
      details: kinds(ofWave),
    },
  ];
}

/** Longest time from receipt to the first message. If no message names the incident, uses the time of its delivery. */
function latency(stories: readonly Story[], { messages: all, deliveries }: Received): Row {
  const critical = stories.filter(({ first }) => first.severity === 'critical');
  const waits = critical.map((story) => {
    const said = all.find(({ words }) => words.includes(story.number))?.at;
    const carried = deliveries.find(
      ({ subject, status }) => subject.id === story.id && status === 'delivered',
    )?.ended_at as string | undefined;
    const at = said ?? (carried === undefined ? Infinity : Date.parse(carried));
    return { story, seconds: (at - story.receivedAt) / 1_000 };
  });
  const longest = Math.max(0, ...waits.map(({ seconds }) => seconds));
  return {
    name: 'the first message about a critical incident: the longest wait',
    shown: `${longest.toFixed(1)} s (${critical.length} incidents)`,
    value: longest,
    unit: 's',
    details: waits
      .filter(({ seconds }) => seconds > 2)
      .map(({ story, seconds }) => `${seconds.toFixed(1)} s: ${describe(story)}`),
  };
}

/** Compares failures of runs, actions and triage with timelines, the attention list and messages. */
async function unseenFailures(
  site: Site,
  stories: readonly Story[],
  { incidents }: SampleRuns,
  runs: readonly Shown[],
): Promise<Row> {
  const { admin } = site;
  const attention = JSON.stringify(await admin.get('/api/attention?limit=200'));
  const said = site.messages.map(({ words }) => words).join('\n');
  const shownOf = new Map<string, string>();
  const isSeen = async (incident: string | undefined, ...marks: (string | undefined)[]) => {
    if (incident !== undefined && !shownOf.has(incident)) {
      const timeline = await admin.list(`/api/incidents/${incident}/timeline`);
      const bad = timeline.filter(({ event }) => /fail|reject|expire|cancel/.test(event));
      shownOf.set(incident, JSON.stringify(bad));
    }
    const places = [shownOf.get(incident ?? '') ?? '', attention, said];
    return marks.some((mark) => mark && places.some((place) => place.includes(mark)));
  };
  const failures: { what: string; seen: boolean }[] = [];
  for (const { run_id: run, incident_id: incident, playbook, steps } of runs) {
    for (const { name, status, action_id: action, error } of steps) {
      if (status !== 'failed') continue;
      const what = `${playbook}, ${incident}, ${name}: ${error}`;
      const isNamed = await isSeen(incident, `"${name}"`, `${name} `);
      failures.push({ what, seen: isNamed || (await isSeen(incident, action ?? run)) });
    }
  }
  for (const { id, incident_id: incident, action_type: type } of await admin.list(
    '/api/actions?status=failed',
  )) {
    failures.push({ what: `action ${type}, ${incident}`, seen: await isSeen(incident, id) });
  }
  for (const id of new Set([...stories.map((story) => story.id), ...incidents])) {
    for (const { triage_id: triage, status } of await admin.list(`/api/incidents/${id}/triage`)) {
      if (status !== 'failed') continue;
      failures.push({ what: `triage of ${id}`, seen: await isSeen(id, triage, 'triage_failed') });
    }
  }
  const unseen = failures.filter(({ seen }) => !seen);
  return {
    name: 'failures that no list, no timeline and no channel shows',
    shown: countOf(unseen.length, failures.length),
    value: unseen.length,
    details: unseen.map(({ what }) => what),
  };
}
