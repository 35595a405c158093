import { atOnce } from '../../../src/platform/concurrency/semaphore.js';
import { indicatorsInPieces } from '../../../src/triage/evidence/indicators.js';

export const extractIndicators = (...given: Parameters<typeof indicatorsInPieces>) =>
  atOnce(indicatorsInPieces(...given));
