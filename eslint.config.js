import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Bans that hold for every TypeScript file. A later block replaces the whole list, so blocks extend it. */
const languageBans = [
  { selector: 'ExportDefaultDeclaration', message: 'Export by name, so that a thing has one name everywhere.' },
  { selector: "ExportSpecifier[exported.name='default']", message: 'Export by name.' },
  { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
  { selector: "TSModuleDeclaration[kind='namespace']", message: 'Use a module.' },
];

/** The layer check reads imports from the text: an import whose target is computed would pass it unseen. */
const computedImportBan = {
  selector: "ImportExpression:not([source.type='Literal'])",
  message: 'Import a literal path: the layer check cannot see a computed one.',
};

const banGlobals = (names, message) => names.map((name) => ({ name, message }));

const nodeGlobals = ['process', 'Buffer', 'global', 'require', 'NodeJS', '__dirname', '__filename'];

const ambientGlobals = [
  'Date',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'performance',
  'crypto',
  'fetch',
  'console',
  'globalThis',
];

export default defineConfig(
  { ignores: ['dist/', 'coverage/', 'test/**/fixtures/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [js.configs.recommended, tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-restricted-syntax': ['error', ...languageBans],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      // A promise returned from inside `try` leaves it before it can be caught there.
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // `async` without `await` turns a throw into a rejection, which a port that returns a promise owes its callers.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...languageBans, computedImportBan] },
  },
  {
    files: ['src/core/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...banGlobals(
          [...nodeGlobals, ...ambientGlobals],
          'The core is pure: take it as an argument or through a port.',
        ),
      ],
      '@typescript-eslint/no-restricted-types': [
        'error',
        { types: { Date: { message: 'Instants in the core are ISO 8601 strings.' } } },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'The core is pure: ids and jitter come through a port.' },
        { object: 'AbortSignal', property: 'timeout', message: 'The core has no timers: use the clock port.' },
      ],
    },
  },
  {
    files: ['src/protocol/**/*.ts'],
    rules: { 'no-restricted-globals': ['error', ...banGlobals(nodeGlobals, 'The protocol runs in a browser too.')] },
  },
  {
    // Their tools demand a default export.
    files: ['*.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
