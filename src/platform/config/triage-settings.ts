import { isPrivateHost } from '../addresses/target-rules.js';
import type { Parser } from './setting.js';

export const TRIAGE_PROVIDERS = ['anthropic', 'rules', 'none'] as const;
export type TriageProvider = (typeof TRIAGE_PROVIDERS)[number];

export const triageProvider: Parser<TriageProvider | undefined> = {
  fallback: undefined,
  example: '',
  read: (given) => {
    const provider = TRIAGE_PROVIDERS.find((known) => known === given);
    if (provider === undefined) throw new Error(`must be one of ${TRIAGE_PROVIDERS.join(', ')}`);
    return provider;
  },
};

/**
 * Who gives verdicts when nobody says so. A key is the wish for a model. Whoever tries the service has the embedded
 * database and sees verdicts at once; a site that runs its own database decides itself who judges its incidents.
 */
export function chosenProvider(settings: {
  readonly triageProvider: TriageProvider | undefined;
  readonly anthropicApiKey: string | undefined;
  readonly databaseUrl: string | undefined;
}): TriageProvider {
  if (settings.triageProvider) return settings.triageProvider;
  if (settings.anthropicApiKey !== undefined) return 'anthropic';
  return settings.databaseUrl === undefined ? 'rules' : 'none';
}

/**
 * The value goes into a URL as it is, so it must not have a part in which a path cannot go on. The key and incidents never
 * cross the internet unencrypted.
 */
export function modelAddress(fallback: string): Parser<string> {
  return {
    fallback,
    example: fallback,
    read: (given) => {
      const url = URL.parse(given);
      if (!url || !/^https?:$/.test(url.protocol) || /[@?#\\\s]/.test(given)) {
        throw new Error(
          'must be an https address, or an http one, without a user, query or fragment',
        );
      }
      if (url.protocol === 'http:' && !isPrivateHost(url.hostname)) {
        throw new Error('must be an https address; http is for private networks');
      }
      return given;
    },
  };
}

export function modelName(fallback: string): Parser<string> {
  return {
    fallback,
    example: fallback,
    read: (given) => {
      if (!/^[\w.:@/-]{1,200}$/.test(given)) {
        throw new Error('must be a name of up to 200 letters, digits and . : @ / _ -');
      }
      return given;
    },
  };
}
