import type { PgBoss, Queue, QueueResult, UpdateQueueOptions } from 'pg-boss';

/** Creates the queues that are missing and corrects what changed: nothing but one query on a warm start. */
export async function ensureQueues(boss: PgBoss, wanted: readonly Queue[]): Promise<void> {
  const present = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  for (const queue of wanted) {
    const existing = present.get(queue.name);
    if (!existing) await boss.createQueue(queue.name, queue);
    else if (differs(existing, queue)) await boss.updateQueue(queue.name, changeable(queue));
  }
}

function differs(existing: QueueResult, wanted: Queue): boolean {
  return Object.entries(wanted).some(
    ([option, value]) => existing[option as keyof QueueResult] !== value,
  );
}

/** A queue keeps its policy for life. */
function changeable(queue: Queue): UpdateQueueOptions {
  return Object.fromEntries(
    Object.entries(queue).filter(([option]) => option !== 'name' && option !== 'policy'),
  );
}
