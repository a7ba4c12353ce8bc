import { z } from 'zod';
import { line, pageSize, sessionId } from './fields.ts';
import { toolServer } from './gateway.ts';
import { defineMethod } from './method.ts';

export const toolList = defineMethod({
  name: 'tool.list',
  summary:
    'Answers the tools that a session has, or those of some toolsets, or of every configured one, in the order of their names, and ' +
    'how their servers are. Servers are started when they are first needed, so it may take as long as one takes to start; one that ' +
    'cannot be reached adds no tool.',
  scope: 'read',
  params: z
    .strictObject({
      session_id: sessionId.optional().describe('The tools that its toolsets stood for when it was made.'),
      toolsets: z.array(line(200)).min(1).max(100).optional().describe('Names of configured toolsets.'),
      limit: pageSize(200, 500),
    })
    .refine((params) => params.session_id === undefined || params.toolsets === undefined, {
      error: 'needs at most one of session_id and toolsets',
      path: ['toolsets'],
    }),
  result: z.strictObject({
    tools: z.array(
      z.strictObject({
        name: z.string().describe('As the model calls it.'),
        server: z.string().describe('Who has it; `builtin` for those of the gateway itself.'),
        server_tool: z.string().describe('Its name on its server.'),
        description: z.string(),
        truncated: z.literal(true).optional().describe('The description was cut.'),
        toolsets: z.array(z.string()).describe('Those of the toolsets that were asked for in which it is now.'),
      }),
    ),
    more: z.boolean().describe('Whether there are more than `limit`.'),
    servers: z.array(toolServer).describe('Every configured server.'),
  }),
  errors: ['not_found'],
  order: 'any',
});
