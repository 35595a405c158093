/**
 * Floors, from the lowest to the highest: a folder imports only from lower floors. A folder without a floor fails the
 * check. The catalogue of actions has a low floor, because settings and connectors import it.
 */
const floors = [
  ['platform/access', 'platform/addresses', 'platform/masking'],
  ['action-catalogue'],
  ['platform/config'],
  ['platform/tracing'],
  ['platform/database', 'platform/net'],
  ['platform/errors'],
  ['platform/concurrency'],
  ['platform/secrets', 'platform/validation'],
  ['platform/paging'],
  ['platform/counting', 'platform/http', 'platform/work'],
  ['platform/idempotency', 'platform/limits', 'platform/logging', 'platform/openapi'],
  ['platform/docs', 'platform/metrics'],
  ['audit'],
  ['auth'],
  ['targets'],
  ['incidents', 'kill-switch', 'connectors'],
  ['actions'],
  ['playbooks'],
  ['triage'],
  ['webhooks', 'notifications', 'attention', 'dead-jobs', 'health', 'migrations'],
];

const folder = (name) => `^src/${name}/`;
const all = floors.flat();
const roomsOf = (name) => all.filter((other) => other.startsWith(`${name}/`));

const floorRules = floors.flatMap((modules, floor) =>
  modules.map((name) => {
    const above = floors
      .slice(floor)
      .flat()
      .filter((other) => other !== name);
    const below = floors.slice(0, floor).flat();
    return {
      name: `floor-${floor}-${name}`,
      comment: `${name} is on floor ${floor}: it imports only from floors below.`,
      severity: 'error',
      from: { path: folder(name), pathNot: roomsOf(name).map(folder) },
      to: {
        path: above.map(folder).concat('^src/[^/]+\\.ts$', '^src/cli/'),
        // A room below its module is below whatever is above the module.
        pathNot: [name, ...below].map(folder),
      },
    };
  }),
);

module.exports = {
  forbidden: [
    ...floorRules,
    {
      name: 'every-folder-has-a-floor',
      severity: 'error',
      from: {
        path: '^src/[^/]+/',
        pathNot: all.map(folder).concat('^src/cli/', '^src/platform/[^/]+\\.ts$'),
      },
      to: {},
    },
    {
      name: 'what-the-platform-begins-with-imports-nothing',
      comment:
        'Ids, texts, the clock: every floor uses them, so they stand below all. Ids begin with the time.',
      severity: 'error',
      from: { path: '^src/platform/[^/]+\\.ts$', pathNot: '(\\.spec|platform\\.module)\\.ts$' },
      to: { path: '^src/', pathNot: '^src/platform/clock\\.ts$' },
    },
    {
      name: 'the-platform-knows-no-domain',
      comment: 'But the catalogue of actions, whose names the settings use.',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: ['^src/platform/', '^src/action-catalogue/'] },
    },
    {
      name: 'no-cycles',
      comment: 'Imports of types count, too.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-private-parts-of-another-module',
      comment:
        'From another module import its module, service, types, enums and events, never its entity, repository or DTO.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '(\\.spec\\.ts$|^src/cli/)' },
      to: {
        path: '^src/[^/]+/.*\\.(entity|repository|dto|controller)\\.ts$',
        // The platform has parts that are meant for every module: pages, and the answer to a deletion.
        pathNot: ['^src/$1/', '^src/platform/(paging|http)/'],
      },
    },
    {
      name: 'pure-rules-stay-pure',
      severity: 'error',
      from: { path: '(-policy|-rules|\\.errors)\\.ts$' },
      to: { path: 'node_modules/(@nestjs|typeorm|pg)/' },
    },
    {
      name: 'adapters-are-not-for-controllers',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: '(\\.port\\.ts$|/adapters/|^src/(connectors|notifications)/types/)' },
    },
    {
      name: 'opentelemetry-stays-behind-its-door',
      comment: 'Elsewhere work is told of by platform/tracing/tracing.ts, which imports nothing.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/platform/tracing/open-telemetry\\.ts$',
      },
      to: { path: 'node_modules/@opentelemetry/' },
    },
    {
      name: 'opentelemetry-is-loaded-on-demand',
      comment: 'A service without a collector reads none of its files.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['^src/platform/tracing/open-telemetry\\.ts$', '\\.spec\\.ts$'],
      },
      to: {
        path: '^src/platform/tracing/open-telemetry\\.ts$',
        dynamic: false,
      },
    },
    {
      name: 'no-test-code-in-production',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^test/' },
    },
    {
      name: 'no-dev-dependencies-in-production',
      severity: 'error',
      from: { path: '^src/', pathNot: '(\\.spec\\.ts$|^src/cli/)' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'] },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
