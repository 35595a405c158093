/*
 * Loaded into a service process before its own code (`--require`): on SIGUSR2 it writes what was sent to PostgreSQL since
 * the last one, as one line of JSON: how often each statement was sent, by its name or the beginning of its text.
 */
const pg = require(require.resolve('pg', { paths: [process.env.BENCH_DIST] }));

let sent = new Map();

const query = pg.Client.prototype.query;
pg.Client.prototype.query = function (...values) {
  const [asked] = values;
  const text = typeof asked === 'string' ? asked : (asked?.text ?? '');
  // A name that stands for a text of TypeORM tells nothing.
  const named = asked?.name?.startsWith('t_') ? undefined : asked?.name;
  const name = named ?? text.replace(/\s+/g, ' ').trim().slice(0, 100);
  sent.set(name, (sent.get(name) ?? 0) + 1);
  return query.apply(this, values);
};

process.on('SIGUSR2', () => {
  process.stdout.write(`STATEMENTS ${JSON.stringify([...sent])}\n`);
  sent = new Map();
});
