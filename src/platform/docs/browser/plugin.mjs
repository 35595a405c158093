import { findOperations } from './search.mjs';

/* For people who are logged in, collapses the keys and the introduction, and hides the servers. */

const SEARCH = 'Search paths, titles, descriptions and tags';

export const pagePlugin = () => ({
  fn: { opsFilter: findOperations },
  wrapComponents: {
    FilterContainer: searchBox,
    ServersContainer: () => () => null,
    authorizeOperationBtn: () => () => null,
    AuthorizeBtnContainer: collapsed('Use an API key instead of your session'),
    InfoContainer: collapsed('How this API works: keys, lists, errors, limits'),
    operations: foundOperations,
  },
});

const collapsed =
  (summary) =>
  (Original, { React: { createElement } }) =>
  (props) =>
    createElement(
      'details',
      { className: 'its-behind' },
      createElement('summary', null, summary),
      createElement(Original, props),
    );

const searchBox =
  (_Original, { React: { createElement } }) =>
  ({ layoutActions, layoutSelectors }) => {
    const words = layoutSelectors.currentFilter();
    const box = createElement('input', {
      type: 'search',
      className: 'operation-filter-input',
      placeholder: SEARCH,
      'aria-label': SEARCH,
      value: typeof words === 'string' ? words : '',
      onChange: ({ target }) => layoutActions.updateFilter(target.value),
    });
    return createElement('div', { className: 'filter wrapper' }, box);
  };

/** If a search finds nothing, Swagger UI would say that the document has no operations. */
const foundOperations =
  (Original, { React: { createElement } }) =>
  (props) => {
    const words = props.layoutSelectors.currentFilter();
    const isSearched = typeof words === 'string' && words !== '';
    if (!isSearched || findOperations(props.specSelectors.taggedOperations(), words).size > 0) {
      return createElement(Original, props);
    }
    const nothing = `Nothing here is about “${words}”. Try fewer or other words.`;
    return createElement('p', { role: 'status' }, nothing);
  };
