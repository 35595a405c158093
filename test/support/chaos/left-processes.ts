import { readdirSync, readFileSync } from 'node:fs';

/** The processes of this machine whose command line names the folder. */
export function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return command.includes(folder) ? [`${pid} ${command}`] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}
