import { presetPage } from '../webhooks/mapping/preset-page.js';
import { PRESETS } from '../webhooks/mapping/presets.js';
import { writeOrCheck } from './generated-file.js';

writeOrCheck('docs/webhook-presets.md', presetPage(PRESETS), 'npm run webhook-presets');
