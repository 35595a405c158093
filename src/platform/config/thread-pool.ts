/**
 * Imported before anything that may use the threads: their number is read once, when the first of them is needed. Half of
 * them at most look up names, so with Node's four two names whose server hangs would stop all others.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16';
