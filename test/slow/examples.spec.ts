import { examples } from '../../src/app.examples.js';
import { Player } from '../support/examples/player.js';
import type { Scene } from '../support/examples/scene.js';
import { SCENES } from '../support/examples/story.js';

/** Nothing makes a service fail that was just started, or jobs die in it, and nobody is there who could be told. */
const NOT_PLAYED = [
  'getDetailedHealth unhealthy',
  'getDetailedHealthUnderApi unhealthy',
  'getHealth unhealthy',
  'getHealthUnderApi unhealthy',
  'getReadiness not_ready',
  'getReadinessUnderApi not_ready',
  'listDeadJobs of_a_queue',
  'listNotificationDeliveries dead',
  'redeliverDeadNotifications day',
  'redeliverNotification again',
  'requeueDeadJob not_found',
  'requeueDeadJob requeued',
  'testNotificationChannel delivered',
];

const nameOf = ({ operation, named }: Scene): string => `${operation} ${named}`;

describe('the examples of the contract', () => {
  it('are all part of the story, but those that a service just started cannot show', () => {
    const played = new Set(SCENES.map(nameOf));
    const all = Object.entries(examples).flatMap(([operation, cases]) =>
      Object.keys(cases).map((named) => nameOf({ operation, named, by: 'nobody' })),
    );
    expect(all.filter((name) => !played.has(name)).toSorted()).toEqual(NOT_PLAYED);
  });

  it('happen just as they are shown when the story is played', async () => {
    const player = await Player.start();
    const found: string[] = [];
    for (const scene of SCENES) {
      const problems = await player.play(scene);
      found.push(...problems.map((problem) => `${nameOf(scene)} ${problem}`));
    }
    await player.close();
    expect(found).toEqual([]);
  }, 120_000);
});
