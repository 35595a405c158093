import { goTool } from '../lib/go-tool.ts';

/**
 * Version of promtool, the tool of Prometheus for rules. Built without service discovery, which is most of its code.
 */
export function promtool(): string {
  return goTool({
    name: 'promtool',
    module: 'github.com/prometheus/prometheus',
    version: 'v0.316.0',
    folder: './cmd/promtool',
    tags: 'remove_all_sd',
  });
}

// `npm run alerts:check` builds promtool before the tests, because the first build takes minutes.
if (process.argv[1]?.endsWith('scripts/alerts/promtool.ts')) promtool();
