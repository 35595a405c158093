import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import type { RecordedExamples } from '../../scripts/contract/examples.js';
import { Player } from '../support/examples/player.js';
import { SCENES } from '../support/examples/story.js';

const FILE = 'openapi/examples.json';
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** Ignores times: on a busy machine, a step may take so long that its time is in the next scene. */
const withoutTimes = (text: string): unknown => JSON.parse(text.replace(TIME, '*'));

describe('the examples of the contract', () => {
  it('equal the current responses of the service; RECORD_EXAMPLES=1 records them again', async () => {
    const player = await Player.start();
    const problems: string[] = [];
    for (const scene of SCENES) {
      const found = await player.play(scene);
      problems.push(...found.map((problem) => `${scene.operation} ${scene.named}: ${problem}`));
    }
    const recorded: RecordedExamples = player.recorded();
    await player.close();
    expect(problems).toEqual([]);
    const text = await format(JSON.stringify(recorded), { parser: 'json', printWidth: 100 });
    const before = readFileSync(FILE, 'utf8');
    if (process.env['RECORD_EXAMPLES'] !== '1') {
      expect(withoutTimes(text)).toEqual(withoutTimes(before));
    } else if (JSON.stringify(withoutTimes(text)) !== JSON.stringify(withoutTimes(before))) {
      writeFileSync(FILE, text);
    }
  }, 240_000);
});
