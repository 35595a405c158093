/** Obstacles that keep the service from accepting requests: the word in `/ready`, and a sentence for people. */
export const DATABASE_OBSTACLES = {
  unreachable: 'The database cannot be reached.',
  'read-only': 'The database is read-only: changes are not possible.',
  'disk full': 'The disk of the database is full: nothing can be added.',
  'refuses writes': 'The database rejects writes. The log has the reason.',
} as const;
export type DatabaseObstacle = keyof typeof DATABASE_OBSTACLES;

export function isDatabaseObstacle(word: unknown): word is DatabaseObstacle {
  return typeof word === 'string' && Object.hasOwn(DATABASE_OBSTACLES, word);
}

export const SERVICE_OBSTACLES = {
  stopping: 'The service is stopping and accepts no new requests.',
} as const;

export interface Obstacles {
  readonly database?: DatabaseObstacle;
  readonly service?: keyof typeof SERVICE_OBSTACLES;
}

export const OBSTACLES_IN_WORDS = Object.entries({
  database: DATABASE_OBSTACLES,
  service: SERVICE_OBSTACLES,
})
  .flatMap(([part, obstacles]) =>
    Object.entries(obstacles).map(([word, meaning]) => `- \`${part}\`: \`${word}\`. ${meaning}`),
  )
  .join('\n');
