/*
 * Lets a Node.js process run the TypeScript of the project: `node --require run-typescript.cjs some.ts`. The type
 * stripping of Node.js does not support decorators.
 */
const { readFileSync } = require('node:fs');
const { registerHooks } = require('node:module');
const { fileURLToPath } = require('node:url');
const { transformSync } = require('@swc/core');
const swcOptions = require('../swc-options.json');

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (!/^\.{1,2}\/.*\.js$/.test(specifier)) throw error;
      return next(specifier.replace(/\.js$/, '.ts'), context);
    }
  },
  load(url, context, next) {
    if (!url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const source = readFileSync(filename, 'utf8');
    const { code } = transformSync(source, { ...swcOptions, filename, swcrc: false });
    return { format: 'commonjs', source: code, shortCircuit: true };
  },
});
