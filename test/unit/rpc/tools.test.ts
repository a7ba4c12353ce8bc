import { beforeEach, describe, expect, test } from 'vitest';
import { ScriptedTools } from '../../../src/adapters/outbound/memory/scripted-tools.ts';
import { makeListTools } from '../../../src/composition/list-tools.ts';
import type { ToolServerHealth } from '../../../src/core/ports/tool-host.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

const health: ToolServerHealth = { server: 'scripted', state: 'ready', tools: 2, restarts: 1, lastError: null };

class ServedTools extends ScriptedTools {
  override health(): readonly ToolServerHealth[] {
    return [health];
  }
}

const seen = () => ({ kind: 'answered', text: 'seen', isError: false }) as const;
const toolsets = { eyes: ['scripted.look'], all: ['scripted.look', 'scripted.touch'] };

let core: MemoryGateway;
let peer: FakePeer;

beforeEach(async () => {
  const tools = new ServedTools({ look: seen, touch: seen });
  core = await MemoryGateway.started({ tools });
  peer = FakePeer.connect(rpcDependencies(core, { listTools: makeListTools({ toolsets }, tools) }));
});

const look = {
  name: 'scripted__look',
  server: 'scripted',
  server_tool: 'look',
  description: 'The scripted tool look.',
};
const touch = { ...look, name: 'scripted__touch', server_tool: 'touch', description: 'The scripted tool touch.' };

describe('tool.list', () => {
  test('answers the tools of every toolset, with the health of the servers', async () => {
    expect(await peer.call('tool.list', {})).toEqual({
      tools: [
        { ...look, toolsets: ['eyes', 'all'] },
        { ...touch, toolsets: ['all'] },
      ],
      more: false,
      servers: [{ server: 'scripted', state: 'ready', tools: 2, restarts: 1, last_error: null }],
    });
  });

  test('answers those of the toolsets that it is asked for, as many as are wanted', async () => {
    expect(await peer.call('tool.list', { toolsets: ['eyes'] })).toMatchObject({
      tools: [{ ...look, toolsets: ['eyes'] }],
      more: false,
    });
    expect(await peer.call('tool.list', { toolsets: ['all'], limit: 1 })).toMatchObject({ tools: [look], more: true });
  });

  test('answers what a session has, whatever its toolsets stand for now', async () => {
    const session_id = await core.create({ toolsets: ['scripted.touch'] });

    expect(await peer.call('tool.list', { session_id })).toMatchObject({ tools: [{ ...touch, toolsets: [] }] });
  });

  test('refuses a toolset that is not configured, both at once, and a session that is not there', async () => {
    const refusalOf = async (params: object): Promise<unknown> => (await peer.request('tool.list', params)).error?.data;
    const session_id = await core.create();
    await peer.call('session.delete', { session_id });

    expect(await refusalOf({ toolsets: ['ears'] })).toMatchObject({
      reason: 'invalid_params',
      fields: [{ path: 'toolsets', message: 'has no configured toolset ears' }],
    });
    expect(await refusalOf({ session_id, toolsets: ['eyes'] })).toMatchObject({ reason: 'invalid_params' });
    expect(await refusalOf({ session_id })).toMatchObject({ reason: 'not_found', what: 'session' });
  });
});
