/* Opening an operation of Swagger UI from elsewhere on the page. */

/** Opens it with the id in its box, and with nothing that belongs to another request. Answers its block when it is drawn. */
export async function openOperation(
  { layoutActions, specActions, oas3Actions },
  place,
  operation,
  id,
) {
  specActions.clearResponse(...operation);
  specActions.clearRequest(...operation);
  oas3Actions.clearRequestBodyValue({ pathMethod: operation });
  layoutActions.updateFilter('');
  layoutActions.show(place.slice(0, 2), true);
  layoutActions.show(place, true);
  specActions.changeParam(operation, 'id', 'path', id, false);
  const block = await drawn(() => document.getElementById(place.join('-')));
  block?.scrollIntoView({ block: 'start' });
  block?.querySelector('button')?.focus({ preventScroll: true });
  return block;
}

const TRIES = 50;
const BETWEEN_MS = 100;

/** What is there when the page gets round to it; undefined when it never does. */
export async function drawn(find) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    const found = find();
    if (found) return found;
  }
  return undefined;
}
