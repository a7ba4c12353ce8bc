import { anthropicDialect } from './anthropic-dialect.ts';
import { chatDialect, compatibleDialect } from './chat-dialect.ts';
import type { Dialect } from './dialect.ts';
import { googleDialect } from './google-dialect.ts';
import { responsesDialect } from './responses-dialect.ts';

/** Every interface that the gateway speaks. */
export const dialects: readonly Dialect[] = [
  compatibleDialect,
  chatDialect,
  responsesDialect,
  anthropicDialect,
  googleDialect,
];
