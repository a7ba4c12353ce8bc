import { describe, expect, test } from 'vitest';
import { approvalMode, fits } from '../../../../../src/core/domain/approval/policy.ts';
import type { ApprovalPolicy, ApprovalRule } from '../../../../../src/core/domain/approval/policy.ts';

function aRule(overrides: Partial<ApprovalRule> = {}): ApprovalRule {
  return { tool: '*', arguments: {}, approval: 'ask', ...overrides };
}

const tool = (serverTool: string, server = 'files') => ({ server, serverTool });

describe('the mode of a call', () => {
  test("is its server's where no rule fits, and `always` for a server without any", () => {
    const policy: ApprovalPolicy = { files: { approval: 'never', rules: [aRule({ tool: 'read_*' })] } };

    expect(approvalMode(policy, tool('write_file'), {})).toBe('never');
    expect(approvalMode(policy, tool('read_file'), {})).toBe('ask');
    expect(approvalMode(policy, tool('time', 'builtin'), {})).toBe('always');
    expect(approvalMode(policy, tool('read', 'constructor'), {})).toBe('always');
  });

  test('is that of the first rule that fits', () => {
    const rules = [aRule({ tool: 'read_file', approval: 'always' }), aRule({ tool: 'read_*', approval: 'never' })];
    const policy: ApprovalPolicy = { files: { approval: 'ask', rules } };

    expect(approvalMode(policy, tool('read_file'), {})).toBe('always');
    expect(approvalMode(policy, tool('read_folder'), {})).toBe('never');
  });

  test.each<[what: string, patterns: Record<string, string>, given: Record<string, unknown>, fits: boolean]>([
    ['all of several arguments', { path: '/srv/*', mode: 'append' }, { path: '/srv/a', mode: 'append' }, true],
    ['not when one differs', { path: '/srv/*', mode: 'append' }, { path: '/srv/a', mode: 'replace' }, false],
    ['not when it is missing', { path: '*' }, {}, false],
    ['a nested one by its path', { 'options.mode': 'append' }, { options: { mode: 'append' } }, true],
    ['one whose name has a dot', { 'options.mode': 'append' }, { 'options.mode': 'append' }, true],
    ['a number by its JSON', { lines: '1*' }, { lines: 12 }, true],
    ['a list by its JSON', { paths: '*"/etc/passwd"*' }, { paths: ['/a', '/etc/passwd'] }, true],
    ['null by its JSON', { path: 'null' }, { path: null }, true],
    ['nothing that every object inherits', { constructor: '*' }, {}, false],
    ['nothing of an inherited object', { '__proto__.x': '*' }, JSON.parse('{"a":1}') as Record<string, unknown>, false],
  ])('fits %s', (_what, patterns, given, expected) => {
    const policy: ApprovalPolicy = { files: { approval: 'always', rules: [aRule({ arguments: patterns })] } };

    expect(approvalMode(policy, tool('write'), given)).toBe(expected ? 'ask' : 'always');
  });
});

describe('a pattern', () => {
  test.each<[pattern: string, text: string, expected: boolean]>([
    ['abc', 'abc', true],
    ['abc', 'abcd', false],
    ['*', '', true],
    ['*', 'a\nb', true],
    ['a*', 'ba', false],
    ['*a', 'ba', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['**a**', 'xax', true],
    ['a.c', 'abc', false],
    ['[a-z]', 'b', false],
    ['', '', true],
    ['', 'a', false],
  ])('%j fits %j: %s', (pattern, text, expected) => {
    expect(fits(pattern, text)).toBe(expected);
  });

  test('is matched in about linear time, whatever a model writes', () => {
    const startedAt = performance.now();

    expect(fits(`${'*a'.repeat(200)}b*c`, 'a'.repeat(200_000))).toBe(false);

    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});
