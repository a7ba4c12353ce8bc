import { z } from 'zod';

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must consist of letters, digits, `-`, `_` and `.`');

export const platformToolsetsSection = z
  .record(name, z.array(z.string()))
  .default({})
  .describe("The toolsets of a session that names none, by the session's source.");

export const toolsetsSection = z
  .record(name, z.array(z.string().min(1)))
  .default({})
  .describe('Groups of tools: a name and the tools in it.');

export const mcpServersSection = z
  .record(z.string(), z.unknown())
  .refine(
    (servers) => Object.keys(servers).length === 0,
    'MCP servers are not supported by this version: leave it empty',
  )
  .default({})
  .describe('MCP servers. Not supported by this version: only an empty mapping is accepted.');
