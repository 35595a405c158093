import type { Schema } from './database/data-source.js';
import { DomainEvents1795000100000 } from './database/migrations/1795000100000-domain-events.js';
import { Audit1795000200000 } from './database/migrations/1795000200000-audit.js';
import { Idempotency1795000300000 } from './database/migrations/1795000300000-idempotency.js';
import { Auth1795000400000 } from './database/migrations/1795000400000-auth.js';
import { Incidents1795000500000 } from './database/migrations/1795000500000-incidents.js';
import { KillSwitch1795000600000 } from './database/migrations/1795000600000-kill-switch.js';
import { Connectors1795000700000 } from './database/migrations/1795000700000-connectors.js';
import { Actions1795000800000 } from './database/migrations/1795000800000-actions.js';

/** Every table of the service, and the migrations that make them, oldest first. */
export const schema: Schema = {
  entities: [],
  migrations: [
    DomainEvents1795000100000,
    Audit1795000200000,
    Idempotency1795000300000,
    Auth1795000400000,
    Incidents1795000500000,
    KillSwitch1795000600000,
    Connectors1795000700000,
    Actions1795000800000,
  ],
};
