import { z } from 'zod';
import { compressionSection } from './sections/compression.ts';
import { gatewaySection } from './sections/gateway.ts';
import { auxiliarySection, modelSection, providersSection } from './sections/model.ts';
import { loggingSection, recoverySection, shutdownSection, storageSection } from './sections/operation.ts';
import {
  approvalsSection,
  mcpServersSection,
  platformToolsetsSection,
  toolsetsSection,
  turnsSection,
} from './sections/tools.ts';

/**
 * Everything that `config.yaml` may say: the shape, the bounds, the defaults and what each key is for. The reference
 * page is generated from it, and `holdfast config check` uses it too. What two keys say together is in
 * `cross-checks.ts`.
 */
export const configSchema = z.strictObject({
  model: modelSection,
  providers: providersSection,
  auxiliary: auxiliarySection,
  compression: compressionSection,
  platform_toolsets: platformToolsetsSection,
  toolsets: toolsetsSection,
  mcp_servers: mcpServersSection,
  approvals: approvalsSection,
  turns: turnsSection,
  gateway: gatewaySection,
  storage: storageSection,
  recovery: recoverySection,
  shutdown: shutdownSection,
  logging: loggingSection,
});

/** A valid configuration with every default filled in. Its keys are those of the file. */
export type Config = z.output<typeof configSchema>;
