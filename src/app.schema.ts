import type { Schema } from './database/data-source.js';

/** Every table of the service, and the migrations that make them, oldest first. */
export const schema: Schema = {
  entities: [],
  migrations: [],
};
