/*
 * Loaded into a service process before its own code (`--require`). On SIGUSR2, it writes one line of JSON: how often
 * each statement was sent to PostgreSQL since the previous line. A statement is identified by its name or by the
 * beginning of its text.
 */
const pg = require(require.resolve('pg', { paths: [process.env.BENCH_DIST] }));

let sent = new Map();

const query = pg.Client.prototype.query;
pg.Client.prototype.query = function (...values) {
  const [asked] = values;
  const text = typeof asked === 'string' ? asked : (asked?.text ?? '');
  // A name that stands for a text of TypeORM says nothing, so the text is used.
  const named = asked?.name?.startsWith('t_') ? undefined : asked?.name;
  const name = named ?? text.replace(/\s+/g, ' ').trim().slice(0, 100);
  sent.set(name, (sent.get(name) ?? 0) + 1);
  return query.apply(this, values);
};

process.on('SIGUSR2', () => {
  process.stdout.write(`STATEMENTS ${JSON.stringify([...sent])}\n`);
  sent = new Map();
});
