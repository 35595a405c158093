import { shownName, shownStart } from '../../platform/text.js';
import { defang } from '../evidence/indicators.js';
import { type NotApplied, REPORT, type TriageRun } from '../triage-run.js';

const LONGEST_REASONING = 500;
const LONGEST_VALUE = 100;
const MOST_EVIDENCE = 5;

const KEPT_BACK: Readonly<Record<NotApplied, string>> = {
  verdict_by_person: 'Kept as a run only: a person gave the verdict of the incident.',
  incident_resolved: 'Kept as a run only: the incident is resolved.',
};

const PROPOSED =
  'A person gave the verdict of the incident before this report: it stays, and this one is kept beside it as proposed.';

/** What somebody asked for who does not wait for it. */
export function requestInWords({ playbook, force }: TriageRun): string {
  return [
    'Triage was asked for',
    ...(playbook === undefined ? [] : [`with the playbook ${JSON.stringify(shownName(playbook))}`]),
    ...(force ? ['whatever was decided before'] : []),
  ]
    .join(', ')
    .concat('.');
}

/**
 * What a run found, for the timeline: the verdict, why, on what it rests, what was asked, and what it cost. Nothing in it
 * is a link: addresses are de-fanged, because attackers may have written them.
 */
export function completionInWords(run: TriageRun, isProposed = false): string {
  const { verdict, model, toolCalls = [], tokens, durationMs = 0, notApplied, notes } = run;
  if (!verdict) return 'Triage ended without a verdict.';
  const { classification, category, confidence, reasoning, evidence } = verdict;
  const used = tokens.input + tokens.output;
  const shown = evidence.slice(0, MOST_EVIDENCE).map(evidenceInWords);
  const more = evidence.length > MOST_EVIDENCE ? ', …' : '';
  const asked = [...new Set(toolCalls.map(({ tool }) => tool))];
  return [
    `${model ?? run.provider} found it ${classification} (${category}), confidence ${confidence.toFixed(2)}.`,
    ...(isProposed ? [PROPOSED] : notApplied ? [KEPT_BACK[notApplied]] : []),
    defang(shortened(reasoning, LONGEST_REASONING)),
    ...(shown.length > 0 ? [`Evidence: ${shown.join(', ')}${more}.`] : []),
    ...(asked.length > 0 ? [`Asked: ${asked.join(', ')}.`] : []),
    ...notes,
    // The rules need no time that anybody would ask for.
    ...(used > 0 ? [`${(durationMs / 1_000).toFixed(1)} s, ${used} tokens.`] : []),
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function evidenceInWords({
  source,
  pointer,
  value,
}: {
  readonly source: string;
  readonly pointer: string;
  readonly value: string | number | boolean;
}): string {
  const place =
    source === 'raw_data'
      ? pointer
      : source.startsWith(REPORT)
        ? `${pointer} of the report`
        : `${source}${pointer}`;
  return `${shortened(place, LONGEST_VALUE)} is ${defang(shortened(JSON.stringify(value), LONGEST_VALUE))}`;
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${shownStart(text, length)}…` : text;
}
