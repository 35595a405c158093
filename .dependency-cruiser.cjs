/**
 * The floors of the house: a module imports only from floors below its own. The list is the one place where a new
 * module gets its floor; a folder of src/ that is missing here fails the check.
 */
const floors = [
  ['common', 'config', 'database'],
  ['jobs', 'secrets', 'metrics'],
  ['audit', 'idempotency', 'limits'],
  ['auth'],
  ['incidents', 'kill-switch', 'connectors'],
  ['actions'],
  ['approvals', 'playbooks'],
  ['triage'],
  ['webhooks', 'notifications', 'health', 'docs'],
];

const folder = (name) => `^src/${name}/`;

const floorRules = floors.flatMap((modules, floor) =>
  modules.map((module) => ({
    name: `floor-${floor}-${module}`,
    comment: `${module} is on floor ${floor}: it imports only from floors below.`,
    severity: 'error',
    from: { path: folder(module) },
    to: {
      path: floors
        .slice(floor)
        .flat()
        .filter((other) => other !== module && !(floor === 0 && floors[0].includes(other)))
        .map(folder)
        .concat('^src/[^/]+\\.ts$', '^src/cli/'),
    },
  })),
);

module.exports = {
  forbidden: [
    ...floorRules,
    {
      name: 'every-folder-has-a-floor',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: floors.flat().map(folder).concat('^src/cli/') },
      to: {},
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-private-parts-of-another-module',
      comment:
        'From another module import its module, service, types, enums and events, never its entity, repository or DTO.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '(\\.spec\\.ts$|^src/cli/)' },
      to: {
        path: '^src/[^/]+/.*\\.(entity|repository|dto|controller)\\.ts$',
        pathNot: ['^src/$1/', '^src/(common|database)/'],
      },
    },
    {
      name: 'pure-rules-stay-pure',
      severity: 'error',
      from: { path: '(-policy|-rules|-transitions|\\.errors)\\.ts$' },
      to: { path: 'node_modules/(@nestjs|typeorm|pg)/' },
    },
    {
      name: 'adapters-are-not-for-controllers',
      severity: 'error',
      from: { path: '\\.controller\\.ts$' },
      to: { path: '(\\.port\\.ts$|/adapters/)' },
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
