/* Finding and ordering operations. Swagger UI hands over Immutable collections. */

/** Whether all words that somebody looks for are in what is known of an operation, in any case. */
export function isFound(words, parts) {
  const text = parts.filter(Boolean).join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** What Swagger UI calls for its filter: of each tag the operations that are found, of the tags those that have some. */
export function findOperations(tagged, words) {
  return tagged
    .map((group, tag) =>
      group.set(
        'operations',
        group.get('operations').filter((entry) => isFound(words, partsOf(entry, tag))),
      ),
    )
    .filter((group) => group.get('operations').size > 0);
}

function partsOf(entry, tag) {
  const operation = entry.get('operation');
  return [
    tag,
    entry.get('method'),
    entry.get('path'),
    operation.get('summary'),
    operation.get('operationId'),
    operation.get('description'),
    ...titlesOf(operation.getIn(['requestBody', 'content'])),
  ];
}

/** What the examples of its body are there for: that an incident can be resolved stands in no path. */
function titlesOf(content) {
  return valuesIn(content).flatMap((media) =>
    valuesIn(media.get('examples')).map((example) => example.get('summary')),
  );
}

const valuesIn = (map) => (map ? [...map.values()] : []);

const METHODS = ['get', 'post', 'put', 'delete'];

/** By address, and at one address reading comes first and deleting last. */
export function inOrder(one, other) {
  const [path, otherPath] = [one.get('path'), other.get('path')];
  if (path !== otherPath) return path < otherPath ? -1 : 1;
  return METHODS.indexOf(one.get('method')) - METHODS.indexOf(other.get('method'));
}
