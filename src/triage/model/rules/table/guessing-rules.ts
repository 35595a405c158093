import {
  anyOf,
  atLeast,
  byTools,
  type Look,
  reads,
  type Rule,
  says,
  together,
  keys,
} from '../rule.js';

const GUESSING = { group: 'sign_in', category: 'brute_force', mitre: ['T1110'] } as const;
const TRIES = keys(`
  failures failed attempts count failurecount failedattempts failedlogins failcount
  attemptcount loginfailures totalfailures totalattempts calls 401`);
const WENT_WELL = keys(`success successes accepted successcount successfullogins successful 200`);

const manyAccounts = atLeast(
  50,
  ...keys(`
    userstried distinctusers distinctaccounts invalidusers usersaffected targetedusers
    uniqueusers accountstargeted usercount accountcount distinctusernames failedusers
    usersfailed userstargeted uniqueaccounts`),
);

/** Three wrong passwords before the right one are those of a person. */
const guessedIn: Look = {
  at: `${says('guessed').at}, unless the tool counts at most five failures`,
  find: (facts) =>
    byTools(TRIES, /^[1-5]$/).find(facts).length > 0 ? [] : says('guessed').find(facts),
};

export const GUESSING_RULES: readonly Rule[] = [
  {
    ...GUESSING,
    name: 'many_failures',
    points: 25,
    explanation: 'Very many sign-ins failed.',
    look: together(
      atLeast(100, ...TRIES),
      anyOf(
        says('guessing', 'new_place', 'travel', 'legacy_protocol', 'push_denied'),
        manyAccounts,
      ),
    ),
  },
  {
    ...GUESSING,
    name: 'many_accounts',
    points: 25,
    explanation: 'Very many accounts were tried.',
    look: manyAccounts,
    mitre: ['T1110.003'],
  },
  {
    ...GUESSING,
    name: 'guessing',
    points: 15,
    explanation: 'The tool speaks of guessing.',
    look: says('guessing'),
  },
  {
    ...GUESSING,
    name: 'guessing_named',
    points: 15,
    explanation: 'The rule that fired looks for guessing.',
    look: reads(
      keys(`rule rulename description title alert alertname signature type`),
      /(?:brute[- ]?force|password spray|credential stuffing)/i,
    ),
  },
  {
    ...GUESSING,
    name: 'failures_of_one',
    points: 20,
    explanation: 'One account was tried very often.',
    look: together(
      atLeast(50, ...TRIES),
      reads(keys(`eventid eventcode reason status`), /^4625$|^4771$|wrong password|bad_password/i),
    ),
    mitre: ['T1110.001'],
  },
  {
    ...GUESSING,
    name: 'one_got_in',
    points: 30,
    explanation: 'After many failures a sign-in succeeded.',
    look: anyOf(
      guessedIn,
      together(
        anyOf(atLeast(100, ...TRIES), manyAccounts),
        anyOf(
          atLeast(1, ...WENT_WELL),
          reads(['eventid'], /^4624$/),
          reads(['mfa'], /^not enrolled$/i),
        ),
      ),
    ),
  },
  {
    ...GUESSING,
    name: 'stuffing',
    points: 55,
    explanation: 'Passwords of leaked lists are tried on many accounts.',
    look: anyOf(
      says('stuffing'),
      together(
        manyAccounts,
        reads(['listmatch', 'passwordlist', 'credentialsource'], /\b(?:breach|leak|combo)/i),
      ),
      atLeast(0.5, 'passwordreuselistmatch'),
      together(atLeast(1000, '401'), atLeast(1, '200')),
    ),
    category: 'credential_stuffing',
    mitre: ['T1110.004'],
  },
];
