import { renderEnvExample } from '../platform/config/load-settings.js';
import { writeOrCheck } from './generated-file.js';

writeOrCheck('.env.example', renderEnvExample(), 'npm run env-example');
