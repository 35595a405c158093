/** What goes through a list, or through the keys of an object. */
export const LOOPS = ['all', 'exists', 'exists_one', 'map', 'filter'] as const;
export type Loop = (typeof LOOPS)[number];

export function isLoop(name: string): name is Loop {
  return LOOPS.some((loop) => loop === name);
}
