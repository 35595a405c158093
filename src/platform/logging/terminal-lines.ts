import pretty from 'pino-pretty';
import type { DestinationStream } from 'pino';

type Line = Readonly<Record<string, unknown>>;

/** One line of the log as a person at a terminal reads it: what happened, and where it went wrong. */
export function wordsOf(line: Line): string {
  const { stack } = (line['err'] ?? {}) as { readonly stack?: unknown };
  const words = line['msg'] === 'request' ? requestWords(line) : String(line['msg']);
  return typeof stack === 'string' ? `${words}\n${stack}` : words;
}

/** What it was and how it ended. */
function requestWords(line: Line): string {
  const parts = ['method', 'route', 'status', 'code', 'ms', 'caller'].filter(
    (name) => name in line,
  );
  return parts.map((name) => `${String(line[name])}${name === 'ms' ? ' ms' : ''}`).join(' ');
}

/** The log for a terminal; in colours if it has them and the person wants them (NO_COLOR). */
export function terminalLines(terminal: NodeJS.WriteStream): DestinationStream {
  return pretty({
    destination: terminal,
    sync: true,
    colorize: terminal.hasColors(),
    translateTime: 'SYS:HH:MM:ss',
    // Everything else of a line is for programs. pino-pretty would put a `caller` before the message, too.
    hideObject: true,
    ignore: 'caller,context,pid,hostname',
    messageFormat: (line) => wordsOf(line),
  });
}
