import { anyOf, byTools, type Look, reads, type Rule, together } from '../rule.js';

const REASSURING = { group: 'reassuring', category: 'legitimate' } as const;

/** Only what nobody who attacks brings about: an agent that is down, a full disk or a busy processor may be their work. */
const HEALTH = /^Watchdog$|^Cert\w*Expir/;

/** What services and machines run out of, and when they are slow: nothing of who uses them. */
const CAPACITY =
  /(?:disk|filesystem|file ?system|space|memory|cpu|latency|slow|p9\d|throughput|queue|lag|replica|restart|crash ?loop|oom|backup|cron|quota|throttl|saturat|5xx)/i;
const NO_CAPACITY =
  /(?:login|logon|sign.?in|admin|auth|ssh|egress|traffic|agent|sensor|delet|encrypt|ransom|attack)/i;
/** By the name of the alert, of a tool that watches services: it links to the graph of what it measured. */
const ofServices = (look: Look): Look => ({
  at: `${look.at}, of a tool that watches services`,
  find: (facts) => (facts.ofTools('generatorurl').length === 0 ? [] : look.find(facts)),
});
const capacity = ofServices({
  at: `alerts like ${CAPACITY.source}`,
  find: (facts) =>
    facts
      .named('alertname')
      .filter(
        ({ path, value }) =>
          /^(?:(?:alerts|group|common)?\/?labels\/)alertname$/.test(path) &&
          CAPACITY.test(String(value)) &&
          !NO_CAPACITY.test(String(value)),
      )
      .slice(0, 1),
});

/** Commands that change nothing but the state of a service that is there already. */
const ROUTINE =
  /^(?:\/usr)?(?:\/s?bin\/)?(?:systemctl (?:restart|reload|status) [\w@.-]{1,64}|service [\w@.-]{1,64} (?:restart|reload|status)|apt(?:-get)? update|(?:dnf|yum) check-update|uptime|df -h)$/;

/** What calms the alerts of tools that watch whether services run, and the records of everyday commands. */
export const OPERATIONS_RULES: readonly Rule[] = [
  {
    ...REASSURING,
    name: 'health_of_services',
    points: -20,
    proof: true,
    explanation:
      'A tool that watches services reports a certificate that ends soon, or tests itself.',
    look: {
      at: 'alerts of Prometheus about certificates and about itself',
      find: (facts) =>
        facts.ofTools('generatorurl').length === 0
          ? []
          : facts
              .named('alertname')
              .filter(
                ({ path, value }) =>
                  /^(?:(?:alerts|group|common)?\/?labels\/)alertname$/.test(path) &&
                  HEALTH.test(String(value)),
              )
              .slice(0, 1),
    },
  },
  {
    ...REASSURING,
    name: 'capacity_of_services',
    kind: 'role',
    // Who fills a disk or a processor may do so on purpose: alone it closes nothing.
    points: -15,
    calms: ['rating'],
    explanation: 'A tool that watches services measured how full or slow one is.',
    look: capacity,
  },
  {
    ...REASSURING,
    name: 'no_hurry_for_operations',
    kind: 'harmless',
    points: -15,
    calms: ['rating'],
    explanation: 'The tool that watches the service only warns, or reports that it is over.',
    look: ofServices(
      anyOf(
        reads(['severity'], /^(?:warning|info|none|low|minor)$/i),
        byTools(['status'], /^resolved$/i),
      ),
    ),
  },
  {
    ...REASSURING,
    name: 'routine_command',
    points: -20,
    proof: true,
    explanation: 'An everyday command on a service, which the tool only keeps for the record.',
    look: together(byTools(['level'], /^[0-3]$/), byTools(['command'], ROUTINE)),
  },
];
