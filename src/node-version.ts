/** Imported before anything else: an older Node would fail on a dependency, with a message that helps nobody. */
const NEEDED = 24;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `Not started: Node.js ${NEEDED} or newer is needed and this is ${process.versions.node}. On Linux \`npm start\` brings its own.\n`,
  );
  process.exit(1);
}
