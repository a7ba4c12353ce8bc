import type { Configuration } from '../config/configuration.ts';
import { defaultTarget } from '../config/model-endpoints.ts';
import type { CreateSessionInput } from '../core/use-cases/create-session.ts';
import type { CheckedModel, ModelChoice } from '../adapters/inbound/rpc/dependencies.ts';
import type { FieldProblem } from '../protocol/field-problems.ts';

/**
 * What the configuration forbids about a new session. An address must be one that is configured for the provider: a
 * key goes only where it is configured for.
 */
export function makeCheckNewSession(
  configuration: Configuration,
): (input: CreateSessionInput) => readonly FieldProblem[] {
  const { config, endpoints } = configuration;
  const standard = defaultTarget(config);
  return (input) => {
    const problems: FieldProblem[] = [];
    const provider = input.provider ?? standard.provider;
    const known = endpoints.filter((endpoint) => endpoint.provider === provider);
    if (known.length === 0) {
      const names = [...new Set(endpoints.map((endpoint) => endpoint.provider))].join(', ');
      problems.push({ path: 'provider', message: `is not configured; configured: ${names}` });
    } else if (input.baseUrl !== null && !known.some(({ baseUrl }) => baseUrl === withoutSlash(input.baseUrl))) {
      problems.push({ path: 'base_url', message: `is not an address that is configured for ${provider}` });
    }
    if (input.provider !== null && input.provider !== standard.provider && input.model === null) {
      problems.push({ path: 'model', message: `is needed with a provider other than ${standard.provider}` });
    }
    for (const name of input.toolsets ?? []) {
      if (!(name in config.toolsets)) problems.push({ path: 'toolsets', message: `has no configured toolset ${name}` });
    }
    return problems;
  };
}

/** The configured model that a choice stands for: the check of a new session, for one that exists. */
export function makeCheckModel(configuration: Configuration): (choice: ModelChoice) => CheckedModel {
  const standard = defaultTarget(configuration.config);
  const check = makeCheckNewSession(configuration);
  return (choice) => {
    const { provider, model, baseUrl } = choice;
    const problems = check({ ...choice, ...neutral });
    if (problems.length > 0) return { target: undefined, problems };
    const target = {
      provider: provider ?? standard.provider,
      model: model ?? standard.model,
      baseUrl: withoutSlash(baseUrl) ?? (provider === null ? standard.baseUrl : null),
    };
    return { target, problems: [] };
  };
}

/** What a check of the model doesn't look at. */
const neutral = {
  principalId: '',
  requestId: null,
  source: '',
  title: null,
  cwd: null,
  systemPrompt: null,
  toolsets: null,
} as const;

function withoutSlash(address: string | null): string | null {
  return address === null ? null : address.replace(/\/+$/, '');
}
