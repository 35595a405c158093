import { copyFileSync, writeFileSync } from 'node:fs';

/** At a release: what is published now is what the next contract is held against. */
copyFileSync('openapi/openapi.json', 'openapi/baseline.json');
writeFileSync('openapi/breaking-accepted.json', '[]\n');
