import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { linkLibraries, locateNative, privateCopy } from './native-package.js';
import { runAs, type ServerUser } from './server-user.js';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, as a cluster's PG_VERSION file has it. */
  readonly major: string;
}

/** Programs that the server's user can run: those of the package, or a private copy when it cannot reach or complete them. */
export async function prepareBinaries(user: ServerUser, temporaryRoot: string): Promise<Binaries> {
  const native = locateNative();
  let reason = 'its libraries could not be linked';
  if (await linkLibraries(native)) {
    const inPlace = await probe(native, user);
    if (inPlace.binaries) return inPlace.binaries;
    reason = inPlace.reason;
    // A copy helps another user than this one; whoever may read everything here already gains nothing by it.
    if (!user.dropped) throw unusable(reason);
  }
  const copied = await probe(await privateCopy(native, temporaryRoot), user);
  if (!copied.binaries) throw unusable(copied.reason || reason);
  return copied.binaries;
}

async function probe(
  native: string,
  user: ServerUser,
): Promise<{ binaries?: Binaries; reason: string }> {
  const postgres = join(native, 'bin', 'postgres');
  const { ok, stdout, stderr } = await runAs(user, postgres, ['--version']);
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (!ok || major === undefined) return { reason: stderr };
  return { binaries: { postgres, initdb: join(native, 'bin', 'initdb'), major }, reason: '' };
}

function unusable(reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run on this machine (${reason.trim()}): set DATABASE_URL to use a server of your own.`,
  );
}
