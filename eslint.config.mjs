import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Machines differ by a factor of four, so a test does not judge elapsed time. */
const ELAPSED_TIME = [
  "BinaryExpression[operator='-'][left.callee.object.name=/^(Date|performance)$/][left.callee.property.name='now'][right.type='Identifier']:not([right.name=/^[A-Z_]+$/])",
  "CallExpression[callee.object.name='process'][callee.property.name=/^(cpuUsage|threadCpuUsage|hrtime)$/]",
].map((selector) => ({
  selector,
  message:
    'A test does not judge elapsed time: compare counts, the order of events, or cost() of test/support/cost.ts.',
}));

export default tseslint.config(
  { ignores: ['dist*/', 'node_modules/', 'coverage/', '.data/', 'openapi/clients/', '.clients/'] },
  eslint.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-extraneous-class': [
        'error',
        { allowWithDecorator: true, allowEmpty: true },
      ],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message:
            'Only src/platform/config reads the environment: take what you need from Settings.',
        },
      ],
    },
  },
  {
    // The environment is read here, once; scripts and tests set it for the processes that they start.
    files: [
      'src/platform/config/**/*.ts',
      'test/**/*.ts',
      'scripts/{contract,lib}/**/*.ts',
      'scripts/clients.ts',
    ],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'The clock of the machine may be wrong: ask Clock or presentTime().',
        },
      ],
    },
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  // Rules that need types take most of the time, so only the full run checks tests with these rules.
  ...(process.env.LINT === 'full'
    ? []
    : [
        {
          files: ['**/*.spec.ts', 'test/**/*.ts'],
          extends: [tseslint.configs.disableTypeChecked],
          rules: {
            '@typescript-eslint/no-floating-promises': 'off',
            '@typescript-eslint/no-misused-promises': 'off',
            '@typescript-eslint/switch-exhaustiveness-check': 'off',
          },
        },
      ]),
  {
    files: ['src/**/*.spec.ts', 'test/**/*.spec.ts'],
    ignores: ['test/chaos/**'],
    rules: { 'no-restricted-syntax': ['error', ...ELAPSED_TIME] },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        module: 'readonly',
        require: 'readonly',
        globalThis: 'readonly',
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        setTimeout: 'readonly',
        Buffer: 'readonly',
      },
    },
    rules: {
      'no-console': 'off',
      'no-restricted-properties': 'off',
      '@typescript-eslint/no-require-imports': 'off',
    },
  },
  {
    // Scripts of the documentation page, which run in a browser.
    files: ['src/platform/docs/browser/*.mjs'],
    languageOptions: {
      globals: {
        document: 'readonly',
        location: 'readonly',
        URLSearchParams: 'readonly',
        window: 'readonly',
      },
    },
    rules: {
      'no-console': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_' }],
    },
  },
);
