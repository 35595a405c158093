import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS } from './client.ts';
import { shell } from './shell.ts';

interface Pinned {
  readonly version: string;
  readonly sha256: string;
}

/** The path of openapi-generator, which several clients share: one file of Maven's, pinned by its contents. */
export async function openapiGenerator(folder: string): Promise<string> {
  const pinned = JSON.parse(
    readFileSync(join(CLIENTS, 'openapi-generator.json'), 'utf8'),
  ) as Pinned;
  const jar = join(folder, `openapi-generator-cli-${pinned.version}.jar`);
  if (!existsSync(jar)) {
    const artifact = `org.openapitools:openapi-generator-cli:${pinned.version}`;
    await shell(
      `mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=${artifact} -DoutputDirectory="$PWD"`,
      { cwd: folder, env: {} },
    );
  }
  const found = createHash('sha256').update(readFileSync(jar)).digest('hex');
  if (found === pinned.sha256) return jar;
  rmSync(jar);
  throw new Error(`${jar} has the checksum ${found}, and not ${pinned.sha256}.`);
}
