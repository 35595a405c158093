import { copyFileSync, writeFileSync } from 'node:fs';

/** Run at a release. Stores the published contract, which later contracts are compared with. */
copyFileSync('openapi/openapi.json', 'openapi/baseline.json');
writeFileSync('openapi/breaking-accepted.json', '[]\n');
