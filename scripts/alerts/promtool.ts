import { goTool } from '../lib/go-tool.ts';

/** Prometheus' own tool for its rules; without what finds targets in clouds, which is most of it. */
export function promtool(): string {
  return goTool({
    name: 'promtool',
    module: 'github.com/prometheus/prometheus',
    version: 'v0.316.0',
    folder: './cmd/promtool',
    tags: 'remove_all_sd',
  });
}
