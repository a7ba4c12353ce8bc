import { parseSearch, snippetOf } from '../../../core/domain/search/terms.ts';
import type { SearchTerms } from '../../../core/domain/search/terms.ts';
import type { SearchHit, SearchPage, SessionQueries } from '../../../core/ports/session-queries.ts';
import type { ToolOutcome } from '../../../core/ports/tool-host.ts';
import { builtinServer } from './builtin-tool.ts';
import type { BuiltinTool } from './builtin-tool.ts';

export type SearchedQueries = Pick<SessionQueries, 'findSession' | 'search'>;

const maxHits = 10;
/** Of one hit; with `maxHits` this bounds the answer. */
const maxSnippetCharacters = 400;
const maxQueryCharacters = 1_000;

/**
 * Lets a model look up what was said in its own session, also what compressions took out of its sight. It sees no other
 * session: the one that is searched is that of the call and never an argument.
 */
export function makeSearchHistoryTool(queries: SearchedQueries): BuiltinTool {
  return {
    descriptor: {
      name: 'search_history',
      description:
        'Finds earlier messages of this conversation that hold all the words of a query, newest first, also those that were ' +
        'replaced by a summary. "Words in quotes" stand next to each other, begin* may go on. Case does not count.',
      parameters: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'One or a few words that the message must hold.' },
          before: { type: 'integer', description: 'Only messages with a smaller number: to read on.' },
        },
        required: ['query'],
        additionalProperties: false,
      },
      server: builtinServer,
      serverTool: 'search_history',
    },
    async run(args, { sessionId }) {
      const { query, before = null } = args;
      if (typeof query !== 'string') return refused('`query` must be a string.');
      if (before !== null && !(typeof before === 'number' && Number.isSafeInteger(before) && before >= 0))
        return refused('`before` must be the number of a message.');
      const terms = parseSearch(query.slice(0, maxQueryCharacters));
      if (terms.phrases.length === 0) return refused('`query` holds no word to look for.');
      return answered(await search({ sessionId, terms, before }), terms);
    },
  };

  async function search(of: { sessionId: string; terms: SearchTerms; before: number | null }): Promise<SearchPage> {
    const session = await queries.findSession(of.sessionId);
    if (session === null) return { hits: [], next: null, behind: false };
    return queries.search({ ...of, principalId: session.profile.principalId, limit: maxHits });
  }
}

function answered({ hits, next, behind }: SearchPage, terms: SearchTerms): ToolOutcome {
  const found =
    hits.length === 0
      ? ['No message holds all of these words. Try fewer or other words.']
      : hits.map((hit) => described(hit, terms));
  const more = next === null ? [] : [`There are older ones: search again with \`before\`: ${String(next)}.`];
  const late = behind
    ? ['The index of the history is not complete at the moment: messages may be missing from this answer.']
    : [];
  return { kind: 'answered', text: [...found, ...more, ...late].join('\n\n'), isError: false };
}

function described({ message }: SearchHit, terms: SearchTerms): string {
  const { text, cut } = snippetOf(message.text, terms, maxSnippetCharacters);
  const who = message.kind === 'prompt' ? 'user' : message.role;
  return `Message ${String(message.id)}, ${who}, ${message.at}:\n${text}${cut ? ' […]' : ''}`;
}

function refused(text: string): ToolOutcome {
  return { kind: 'answered', text, isError: true };
}
