import type { Configuration } from '../config/configuration.ts';
import { defaultTarget } from '../config/model-endpoints.ts';
import type { ModelEndpoint } from '../config/model-endpoints.ts';
import type { CreateSessionInput } from '../core/use-cases/create-session.ts';
import type { CheckedAddress } from '../adapters/inbound/rpc/dependencies.ts';
import type { FieldProblem } from '../protocol/field-problems.ts';

/** What the configuration forbids about a new session. */
export function makeCheckNewSession(
  configuration: Configuration,
): (input: CreateSessionInput) => readonly FieldProblem[] {
  const { config, endpoints } = configuration;
  const standard = defaultTarget(config);
  return (input) => {
    const problems = [...addressProblems(endpoints, input.provider ?? standard.provider, input.baseUrl)];
    if (input.provider !== null && input.provider !== standard.provider && input.model === null) {
      problems.push({ path: 'model', message: `is needed with a provider other than ${standard.provider}` });
    }
    for (const name of input.toolsets ?? []) {
      if (!(name in config.toolsets)) problems.push({ path: 'toolsets', message: `has no configured toolset ${name}` });
    }
    return problems;
  };
}

/** The same for the provider and the address that a session which exists is to use. */
export function makeCheckAddress({
  endpoints,
}: Pick<Configuration, 'endpoints'>): (provider: string, baseUrl: string | null) => CheckedAddress {
  return (provider, named) => {
    const baseUrl = withoutSlash(named);
    // Where a request goes that names no address: the first one of its provider.
    const standard = endpoints.find((endpoint) => endpoint.provider === provider)?.baseUrl;
    return {
      problems: addressProblems(endpoints, provider, baseUrl),
      baseUrl,
      isStandard: baseUrl !== null && baseUrl === standard,
    };
  };
}

/** An address must be one that is configured for the provider: a key goes only where it is configured for. */
function addressProblems(
  endpoints: readonly ModelEndpoint[],
  provider: string,
  baseUrl: string | null,
): readonly FieldProblem[] {
  const known = endpoints.filter((endpoint) => endpoint.provider === provider);
  if (known.length === 0) {
    const names = [...new Set(endpoints.map((endpoint) => endpoint.provider))].join(', ');
    return [{ path: 'provider', message: `is not configured; configured: ${names}` }];
  }
  if (baseUrl === null || known.some((endpoint) => endpoint.baseUrl === withoutSlash(baseUrl))) return [];
  return [{ path: 'base_url', message: `is not an address that is configured for ${provider}` }];
}

function withoutSlash(address: string | null): string | null {
  return address === null ? null : address.replace(/\/+$/, '');
}
