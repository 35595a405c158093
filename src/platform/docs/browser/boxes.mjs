/*
 * What stands in the boxes of "Try it out". The examples of the contract tell a story, for those who read it. On a page
 * where one click sends them they have to work or to be empty: a filter that nobody wrote gives an empty list, and the
 * reason that somebody else made up would be recorded as one's own.
 */

import { searchedWords } from './search.mjs';

const METHODS = ['get', 'post', 'put', 'delete'];
/** An id, with or without what an id of its kind begins with. */
const OF_THE_STORY = /^([a-z]+-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OWN_WORDS = /^(reason|comment|resolution)$|password/;

/**
 * The document with what may be sent as it is, and with the role in the title of what this role may not call. Requests go to
 * the host of the page, whatever address the document names.
 */
export function documentForPage(document, mayCall) {
  const resolve = (part) => {
    if (!part?.$ref) return part;
    const steps = part.$ref.replace('#/', '').split('/');
    return resolve(steps.reduce((at, step) => at[step], document));
  };
  const ofOperation = (operation, method) => ({
    ...operation,
    'x-words': searchedWords(operation, resolve),
    summary: titleOf(operation, mayCall),
    ...(operation.parameters && {
      parameters: operation.parameters.map((part) => boxOf(resolve(part), method, resolve)),
    }),
    ...(operation.requestBody && {
      requestBody: bodyOf(resolve(operation.requestBody), method, resolve),
    }),
  });
  return {
    ...document,
    servers: [{ url: '/' }],
    paths: mapValues(document.paths, (item) => ofPath(item, ofOperation)),
  };
}

const ofPath = (item, ofOperation) =>
  mapValues(item, (part, key) => (METHODS.includes(key) ? ofOperation(part, key) : part));

function titleOf(operation, mayCall) {
  const role = operation['x-required-role'];
  return mayCall(role) ? operation.summary : `${operation.summary} (needs the role ${role})`;
}

function boxOf(parameter, method, resolve) {
  const { example: own, examples: _examples, schema: referred = {}, ...rest } = parameter;
  const { example: shared, examples: _others, ...schema } = resolve(referred);
  const example = own ?? shared;
  if (parameter.required && worksAnywhere(example, method)) return parameter;
  return { ...rest, schema, description: withExample(parameter, example) };
}

/**
 * What has to be given, and is there on every service, such as a shipped playbook, is filled in: not the id of something
 * in the story, and nothing where a click would change or delete it.
 */
function worksAnywhere(example, method) {
  return (method === 'get' || method === 'post') && !isOfTheStory(example);
}

function withExample({ in: place, description = '' }, example) {
  if (example === undefined || place === 'path') return description;
  return `${description}\n\nFor example \`${[example].flat().join(',')}\`.`.trim();
}

function bodyOf(body, method, resolve) {
  const shownMedia = (media) => mediaOf(media, method, resolve);
  return { ...body, content: mapValues(body.content, shownMedia) };
}

function mediaOf(media, method, resolve) {
  const result = { ...media };
  if ('example' in media) result.example = asSent(media.example);
  if (media.examples) {
    result.examples = mapValues(media.examples, (part) => {
      const example = resolve(part);
      return { ...example, value: asSent(example.value) };
    });
  }
  return method === 'put' ? withNothingFirst(result) : result;
}

/**
 * A PUT overwrites what people have written, and nobody finds the old title again when it is gone. So the first choice has
 * only what its reader has to write; the examples of the story are there to be chosen.
 */
function withNothingFirst({ example, examples = {}, ...media }) {
  const first = example ?? Object.values(examples)[0]?.value;
  const own = Object.entries(isObject(first) ? first : {}).filter(([key]) => OWN_WORDS.test(key));
  const nothing = { summary: 'Nothing filled in', value: Object.fromEntries(own) };
  const rest = example === undefined ? examples : { ...examples, example: { value: example } };
  return { ...media, examples: { nothing, ...rest } };
}

/**
 * Why somebody does something, and passwords, people write themselves: until they do, the service refuses the request. The
 * incident of the story is on no other service, and the request means as much without it.
 */
function asSent(value) {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => !isOfTheStory(member));
  return mapValues(Object.fromEntries(members), (member, key) =>
    OWN_WORDS.test(key) ? '' : member,
  );
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const isOfTheStory = (value) => typeof value === 'string' && OF_THE_STORY.test(value);

function mapValues(object, change) {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}
