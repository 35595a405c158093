import { promtool } from './promtool.ts';

/* Gets promtool, which takes minutes the first time, before the tests that need it. */

try {
  promtool();
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`The alerts were not checked, for want of promtool: ${reason}.\n`);
  process.exitCode = 1;
}
