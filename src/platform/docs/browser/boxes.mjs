import { searchedWords } from './search.mjs';

/* "Try it out" sends all boxes: an unchosen filter would hide results, and an example reason would be recorded. */

/** Methods in the order in which the page shows the operations of a path. */
const METHODS = ['get', 'post', 'put', 'delete'];
/** Ids of the recorded examples exist on no other service. */
const RECORDED_ID = /^([a-z]+-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Fields that the user fills in. Until then, the service rejects the request. */
const OWN_WORDS = /^(reason|comment|resolution)$|password/;

/** Requests go to the host of the page. The title of an operation names the role that the user lacks. */
export function documentForPage(document, mayCall) {
  const resolve = (part) => {
    if (!part?.$ref) return part;
    return resolve(
      part.$ref
        .slice(2)
        .split('/')
        .reduce((at, step) => at[step], document),
    );
  };
  const forPage = ({ summary, parameters = [], requestBody, ...rest }, method) => {
    const role = rest['x-required-role'];
    const operation = { ...rest, parameters, requestBody };
    return {
      ...rest,
      'x-words': searchedWords(operation, resolve),
      summary: mayCall(role) ? summary : `${summary} (needs the role ${role})`,
      parameters: parameters.map((part) => boxOf(resolve(part), method, resolve)),
      ...(requestBody && { requestBody: bodyOf(requestBody, method) }),
    };
  };
  const paths = mapValues(document.paths, (item) => {
    const methods = METHODS.filter((method) => item[method]);
    return Object.fromEntries(methods.map((method) => [method, forPage(item[method], method)]));
  });
  return { ...document, servers: [{ url: '/' }], paths };
}

/** Fills in the examples of required values, except for a PUT or DELETE. The description shows all other examples. */
function boxOf({ example, schema, description = '', ...parameter }, method, resolve) {
  const { example: ofSchema, ...plain } = resolve(schema ?? {});
  const shown = example ?? ofSchema;
  const isSafe = method === 'get' || method === 'post';
  if (parameter.required && isSafe && shown !== undefined && !RECORDED_ID.test(shown)) {
    return { ...parameter, description, schema: plain, example: shown };
  }
  const isNamed = shown !== undefined && parameter.in !== 'path';
  const words = isNamed ? `${description}\n\nFor example \`${[shown].flat()}\`.` : description;
  const choices = parameter.name === 'sort' && resolve(plain.items)?.enum;
  if (!choices) return { ...parameter, description: words.trim(), schema: plain };
  // `sort` takes free text, because the order of its fields matters, and a list of choices has its own order.
  const fields = choices.filter((word) => !word.startsWith('-'));
  return {
    ...parameter,
    description: `${words}\n\nFields: ${fields.join(', ')}.`,
    schema: { type: 'string' },
  };
}

const bodyOf = (body, method) => ({
  ...body,
  content: mapValues(body.content, (media) => ({
    ...media,
    examples: examplesOf(media.examples ?? {}, method),
  })),
});

/** A PUT overwrites what people wrote, so its first choice contains only the fields that the user fills in. */
function examplesOf(examples, method) {
  const sent = mapValues(examples, (example) => ({ ...example, value: asSent(example.value) }));
  if (method !== 'put') return sent;
  const own = Object.entries(Object.values(sent)[0]?.value ?? {});
  const value = Object.fromEntries(own.filter(([key]) => OWN_WORDS.test(key)));
  return { nothing: { summary: 'Nothing filled in', value }, ...sent };
}

function asSent(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => !RECORDED_ID.test(member));
  return mapValues(Object.fromEntries(members), (member, key) =>
    OWN_WORDS.test(key) ? '' : member,
  );
}

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
