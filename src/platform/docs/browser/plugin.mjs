import { findOperations } from './search.mjs';

/*
 * What Swagger UI shows otherwise here. It is for people at work, who have a session already: what asks for a key, a
 * server or a chapter to read stays out of the way until it is looked for.
 */

const SEARCH = 'Search paths, titles, descriptions and tags';

/** A plugin of Swagger UI; `mayCall` knows whether the role of the reader is enough for another one. */
export const pagePlugin = (mayCall) => () => ({
  fn: { opsFilter: findOperations },
  wrapComponents: {
    FilterContainer: searchBox,
    ServersContainer: () => () => null,
    authorizeOperationBtn: () => () => null,
    AuthorizeBtnContainer: behind('Use an API key instead of your session'),
    InfoContainer: behind('How this API works: keys, lists, errors, limits'),
    operations: foundOnes,
    operation: dimmed(mayCall),
    response: foldedError,
    Select: inOrderOfSelection,
  },
});

/** Puts a part behind a line that opens it. */
const behind =
  (summary) =>
  (Original, { React }) =>
  (props) =>
    React.createElement(
      'details',
      { className: 'its-behind' },
      React.createElement('summary', null, summary),
      React.createElement(Original, props),
    );

function searchBox(_Original, { React }) {
  return ({ layoutActions, layoutSelectors, getComponent }) => {
    const words = layoutSelectors.currentFilter();
    const box = React.createElement('input', {
      type: 'search',
      className: 'operation-filter-input',
      placeholder: SEARCH,
      'aria-label': SEARCH,
      value: typeof words === 'string' ? words : '',
      onChange: ({ target }) => layoutActions.updateFilter(target.value),
    });
    return React.createElement(
      'div',
      { className: 'filter-container' },
      React.createElement(getComponent('Col'), { className: 'filter wrapper', mobile: 12 }, box),
    );
  };
}

/** Of a search that finds nothing Swagger UI says that there are no operations, as if something were broken. */
function foundOnes(Original, { React }) {
  return (props) => {
    const { specSelectors, layoutSelectors } = props;
    const words = layoutSelectors.currentFilter();
    const isSearched = typeof words === 'string' && words !== '';
    if (!isSearched || findOperations(specSelectors.taggedOperations(), words).size > 0) {
      return React.createElement(Original, props);
    }
    const nothing = `Nothing here is about “${words}”. Try fewer or other words.`;
    return React.createElement('p', { role: 'status' }, nothing);
  };
}

/** What the role may not call stays there to be read, and looks like it. */
const dimmed =
  (mayCall) =>
  (Original, { React, specSelectors }) =>
  (props) => {
    // The operation that the part is given is empty until somebody opens it.
    const place = ['path', 'method'].map((key) => props.operation.get(key));
    const role = specSelectors.specJson().getIn(['paths', ...place, 'x-required-role']);
    const operation = React.createElement(Original, props);
    if (mayCall(role)) return operation;
    return React.createElement('div', { className: 'its-beyond' }, operation);
  };

/** A list of several words keeps the order in which they were selected: the first field of `sort` counts most. */
function inOrderOfSelection(Original, { React }) {
  return (props) => {
    if (!props.multiple) return React.createElement(Original, props);
    const before = [...(props.value?.toJS?.() ?? props.value ?? [])];
    const onChange = (selected) => props.onChange(selectedInOrder(before, selected));
    const select = React.createElement(Original, { ...props, onChange });
    if (before.length < 2) return select;
    const order = React.createElement('output', { className: 'its-order' }, before.join(', '));
    return React.createElement('div', null, select, order);
  };
}

/** The words selected before that still are, then the new ones. */
export const selectedInOrder = (before, selected) => [
  ...before.filter((word) => selected.includes(word)),
  ...selected.filter((word) => !before.includes(word)),
];

const CODES = /^`(\w+)`/gm;

/** An error is one line with its codes, which opens what there is to read about it. */
function foldedError(Original, { React }) {
  return function Answer(props) {
    const [isOpen, open] = React.useState(false);
    const whole = React.createElement(Original, props);
    if (!/^[45]/.test(props.code)) return whole;
    const description = props.response.get('description', '');
    const codes = [...description.matchAll(CODES)].map(([, code]) => code);
    const line = codes.length > 0 ? codes.join(', ') : description.split('\n')[0];
    const button = React.createElement(
      'button',
      { type: 'button', 'aria-expanded': isOpen, onClick: () => open(!isOpen) },
      line,
    );
    return React.createElement(
      React.Fragment,
      null,
      React.createElement(
        'tr',
        { className: 'response its-error' },
        React.createElement('td', { className: 'response-col_status' }, props.code),
        React.createElement('td', { colSpan: 2 }, button),
      ),
      isOpen && whole,
    );
  };
}
