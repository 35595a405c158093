import 'reflect-metadata';
import { startNotesApp } from './notes-app.js';

/** A replica of the notes service in a process of its own, to be killed. Its first line is its address. */
startNotesApp({ url: process.argv[2]! }).then(
  ({ url }) => process.stdout.write(`${url}\n`),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
