/**
 * What `sort` may say, for these fields: each as it is and with a `-`, which reverses the list. The order is the same for
 * every list, since some generated clients number the words.
 */
export const sortWords = <Field extends string>(...fields: readonly Field[]) =>
  fields.flatMap((field) => [field, `-${field}`] as const);
