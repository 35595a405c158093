import { copyFileSync, writeFileSync } from 'node:fs';

/** Run this script at a release. It stores the published contract, with which later contracts are compared. */
copyFileSync('openapi/openapi.json', 'openapi/baseline.json');
writeFileSync('openapi/breaking-accepted.json', '[]\n');
