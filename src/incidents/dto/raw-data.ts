import { INCIDENT_FIELDS } from '../incident-fields.js';
import { MOST_RAW_DATA_BYTES, MOST_RAW_DATA_LEVELS, PHISHING_KEYS } from '../raw-data-rules.js';

export const RAW_DATA_DESCRIPTION = `The event as its source tells it: any JSON object of at most ${
  MOST_RAW_DATA_BYTES / 1024
} KiB and ${MOST_RAW_DATA_LEVELS} levels. For \`phishing\` the keys ${PHISHING_KEYS.map(
  (key) => `\`${key}\``,
).join(', ')} are strings when they are there, \`received_at\` an ISO 8601 time.`;

export const RAW_DATA_EXAMPLE = {
  message_id: '<4f2a1c@mail.example.net>',
  sender: 'ceo@examp1e.com',
  recipient: 'finance@example.com',
  subject: 'Urgent wire transfer',
  received_at: '2026-01-31T09:29:41Z',
};

export const FIELDS_DESCRIPTION = `What the event says, in words that are the same for every tool; each value is one text. Playbooks, titles and triage read them here. Well-known: ${Object.entries(
  INCIDENT_FIELDS,
)
  .map(([name, meaning]) => `\`${name}\` (${meaning})`)
  .join(
    ', ',
  )}. The mapping of a webhook source may add others. For an incident that is created by the API these are the well-known keys of its \`raw_data\`.`;

/** What the raw data of the example gives. */
export const TITLE_EXAMPLE =
  'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com';
