import { ContainerModule } from 'inversify';
import { Secrets } from '../adapters/outbound/logging/secrets.ts';
import { configuredSecrets } from './configured-secrets.ts';
import type { Config } from '../config/schema.ts';
import { auxiliaryTarget, defaultTarget } from '../config/model-endpoints.ts';
import { fallbacksOf } from '../config/model-settings.ts';
import type { CompressionPolicy } from '../core/domain/compression/trigger.ts';
import { makeCreateSession, makeFindCreated } from '../core/use-cases/create-session.ts';
import { makeEditPrompt } from '../core/use-cases/edit-prompt.ts';
import { makeExportSession } from '../core/use-cases/export-session.ts';
import { makeForkSession } from '../core/use-cases/fork-session.ts';
import { makeGateway } from '../core/use-cases/gateway.ts';
import { makeRespondApproval } from '../core/use-cases/respond-approval.ts';
import { makeSteerPrompt } from '../core/use-cases/steer-prompt.ts';
import { makeSubmitPrompt } from '../core/use-cases/submit-prompt.ts';
import { makeSubscribe } from '../core/use-cases/subscribe.ts';
import type { ApprovalRules } from '../core/use-cases/tool-step.ts';
import { makeToolsFor } from './tools-for.ts';
import { tokens } from './tokens.ts';

const secondsPerDay = 24 * 3600;

/** Sessions that stay in memory while nothing happens in them. */
const maxLoadedSessions = 1000;
/** Characters of transcripts that stay in memory for the next request. */
const maxCachedCharacters = 64 * 1024 * 1024;
/** The start of a turn that dies for the third time at boundary `none` ends it: something about it kills the gateway. */
const maxLostStarts = 3;
/** Events that a subscription reads from the log at a time. */
const eventPageSize = 200;

/** The core, made of its ports. */
export const coreModule = new ContainerModule(({ bind }) => {
  bind(tokens.gateway).toResolvedValue(
    (
      { config },
      instance,
      ledger,
      queries,
      ownership,
      logger,
      failpoints,
      clock,
      ids,
      digest,
      hub,
      provider,
      catalog,
      tokenCounter,
      tools,
    ) =>
      makeGateway({
        ledger,
        queries,
        ownership,
        logger,
        failpoints,
        clock,
        ids,
        digest,
        hub,
        provider,
        catalog,
        tokens: tokenCounter,
        tools,
        instanceId: instance.instanceId,
        onFatal: instance.onFatal,
        mask: instance.mask,
        summaryDeadlineMs: 1000 * config.compression.summary_timeout_seconds,
        policy: compressionPolicy(config),
        summaryTarget: auxiliaryTarget(config, 'compression'),
        titles: config.auxiliary.title_generation.enabled
          ? { target: auxiliaryTarget(config, 'title_generation') }
          : null,
        defaultTarget: defaultTarget(config),
        maxOutputTokens: config.model.max_output_tokens,
        limits: { maxQueuedPerSession: config.gateway.max_queued_per_session, maxLostStarts },
        maxConcurrentTurns: config.gateway.max_concurrent_turns,
        onUnknown: config.recovery.on_unknown,
        maxLoadedSessions,
        maxCachedCharacters,
        maxSteps: config.turns.max_steps,
        learntWindowSeconds: secondsPerDay * config.compression.learnt_window_days,
        callLimits: { maxPerStep: config.turns.max_calls_per_step, maxParallel: config.turns.max_parallel_calls },
        retry: {
          maxAttempts: config.model.retries.max_attempts,
          baseDelayMs: 1000 * config.model.retries.base_seconds,
          maxDelayMs: 1000 * config.model.retries.max_wait_seconds,
          maxTotalMs: 1000 * config.model.retries.total_seconds,
        },
        jitter: Math.random,
        fallbacksOf: ({ provider, model }) => fallbacksOf(config, provider, model),
        onOutage: config.recovery.on_outage,
        approvalRules: approvalRules(config),
      }),
    [
      tokens.configuration,
      tokens.instance,
      tokens.ledger,
      tokens.queries,
      tokens.ownership,
      tokens.logger,
      tokens.failpoints,
      tokens.clock,
      tokens.ids,
      tokens.digest,
      tokens.hub,
      tokens.provider,
      tokens.catalog,
      tokens.tokenCounter,
      tokens.toolHost,
    ],
  );

  bind(tokens.createSession).toResolvedValue(
    (gateway, ledger, digest, ids, clock, tokenCounter, { config }) =>
      makeCreateSession({
        sessions: gateway.sessions,
        ledger,
        digest,
        ids,
        clock,
        tokens: tokenCounter,
        defaultTarget: defaultTarget(config),
        toolsFor: makeToolsFor(config),
      }),
    [tokens.gateway, tokens.ledger, tokens.digest, tokens.ids, tokens.clock, tokens.tokenCounter, tokens.configuration],
  );

  bind(tokens.findCreated).toResolvedValue(
    (ledger, digest) => makeFindCreated({ ledger, digest }),
    [tokens.ledger, tokens.digest],
  );

  bind(tokens.submitPrompt).toResolvedValue(
    (gateway, digest, ids) => makeSubmitPrompt({ sessions: gateway.sessions, digest, ids }),
    [tokens.gateway, tokens.digest, tokens.ids],
  );

  bind(tokens.steerPrompt).toResolvedValue(
    (gateway, digest, ids) => makeSteerPrompt({ sessions: gateway.sessions, digest, ids }),
    [tokens.gateway, tokens.digest, tokens.ids],
  );

  bind(tokens.respondApproval).toResolvedValue(
    (gateway, queries) => makeRespondApproval({ sessions: gateway.sessions, queries }),
    [tokens.gateway, tokens.queries],
  );

  bind(tokens.editPrompt).toResolvedValue(
    (gateway, digest) => makeEditPrompt({ sessions: gateway.sessions, digest }),
    [tokens.gateway, tokens.digest],
  );

  bind(tokens.forkSession).toResolvedValue(
    (gateway, ledger, queries, digest, ids, clock) =>
      makeForkSession({ sessions: gateway.sessions, ledger, queries, digest, ids, clock }),
    [tokens.gateway, tokens.ledger, tokens.queries, tokens.digest, tokens.ids, tokens.clock],
  );

  bind(tokens.exportSession).toResolvedValue(
    (queries, configuration, instance) => {
      const secrets = new Secrets();
      secrets.add(instance.clientToken, ...configuredSecrets(configuration));
      return makeExportSession({ queries, maskSecrets: (text) => secrets.mask(text) });
    },
    [tokens.queries, tokens.configuration, tokens.instance],
  );

  bind(tokens.subscribe).toResolvedValue(
    (hub, queries, logger) =>
      makeSubscribe({
        hub,
        queries,
        pageSize: eventPageSize,
        onError: (error) => {
          logger.error('a subscription could not read the log', { error });
        },
      }),
    [tokens.hub, tokens.queries, tokens.logger],
  );
});

function approvalRules({ approvals, mcp_servers: servers }: Config): ApprovalRules {
  return {
    policy: Object.fromEntries(
      Object.entries(servers).map(([name, server]) => [
        name,
        { approval: server.approval, rules: server.approval_rules },
      ]),
    ),
    expirySeconds: approvals.expiry_seconds,
    maxOpen: approvals.max_open_per_session,
  };
}

function compressionPolicy({ compression }: Config): CompressionPolicy {
  return {
    enabled: compression.enabled,
    protectFirstN: compression.protect_first_n,
    protectLastN: compression.protect_last_n,
    threshold: compression.threshold,
    thresholdTokens: compression.threshold_tokens,
    inPlace: compression.in_place,
  };
}
