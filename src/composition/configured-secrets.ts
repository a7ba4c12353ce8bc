import type { Configuration } from '../config/configuration.ts';
import { secretValues } from '../config/model-endpoints.ts';
import { mcpSecrets } from './mcp-servers.ts';

/** Every value of the configuration that must leave the process in no text: keys, headers, variables of servers. */
export function configuredSecrets({ config, endpoints, environment }: Configuration): readonly string[] {
  return [...secretValues(endpoints), ...mcpSecrets(config, environment)];
}
