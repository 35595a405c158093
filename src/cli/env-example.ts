import { renderEnvExample } from '../platform/config/env-example.js';
import { writeOrCheck } from './generated-file.js';

writeOrCheck('.env.example', renderEnvExample(), 'npm run env-example');
