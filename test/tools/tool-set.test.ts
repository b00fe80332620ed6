import { createToolSet } from 'keelson';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';

const [a, b, c] = ['a', 'b', 'c'].map((name) => toolOf(name, () => name)) as [never, never, never];

describe('a tool set', () => {
  test('changes its revision only if its list changes', () => {
    const set = createToolSet([a]);
    const before = set.list();
    const revisions = [set.revision];

    set.add(b, c);
    revisions.push(set.revision);
    expect(set.remove('x')).toBe(false);
    revisions.push(set.revision);
    expect(set.remove('a')).toBe(true);
    revisions.push(set.revision);

    expect(new Set(revisions).size).toBe(3);
    expect(revisions[1]).toBe(revisions[2]);
    expect(before).toEqual([a]);
    expect(set.list()).toEqual([b, c]);
  });

  test('accepts each name once, and adds all tools or no tool', () => {
    const set = createToolSet([a]);
    const { revision } = set;
    const conflict = expect.objectContaining({ code: 'ERR_TOOL_CONFLICT', tool: 'a' });

    expect(() => set.add(b, a)).toThrow(conflict);
    expect(() => createToolSet([a, a])).toThrow(conflict);

    expect([set.list(), set.revision]).toEqual([[a], revision]);
  });

  test.each([[null], [5], ['echo'], [{}]])('refuses to be created from %j', (tools) => {
    const make = () => createToolSet(tools as never);

    expect(make).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'tools' }));
  });

  test.each([[null], ['echo'], [{ name: 'a' }]])('refuses to add %j and does not change', (value) => {
    const set = createToolSet([a]);
    const { revision } = set;

    expect(() => set.add(value as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }));

    expect([set.list(), set.revision]).toEqual([[a], revision]);
  });

  test('can be empty, and accepts the name of a removed tool', () => {
    const set = createToolSet();
    expect(set.list()).toEqual([]);

    set.add(a);
    set.remove('a');
    set.add(a);

    expect(set.list()).toEqual([a]);
  });
});
