import { describe, expect, test } from 'vitest';
import { createToolSet } from '../../src/tools/tool-set.js';
import { toolOf } from '../support/agent/sample-tools.js';

const [a, b, c] = ['a', 'b', 'c'].map((name) => toolOf(name, () => name)) as [never, never, never];

describe('a tool set', () => {
  test('says by its revision that its list has changed, and by nothing else', () => {
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

  test('takes each name once, and adds all or none', () => {
    const set = createToolSet([a]);
    const { revision } = set;
    const conflict = expect.objectContaining({ code: 'ERR_TOOL_CONFLICT', tool: 'a' });

    expect(() => set.add(b, a)).toThrow(conflict);
    expect(() => createToolSet([a, a])).toThrow(conflict);

    expect([set.list(), set.revision]).toEqual([[a], revision]);
  });

  test.each([[null], [5], ['echo'], [{}]])('is not made from %j', (tools) => {
    const make = () => createToolSet(tools as never);

    expect(make).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'tools' }));
  });

  test.each([[null], ['echo'], [{ name: 'a' }]])('takes no %j, and stays as it was', (value) => {
    const set = createToolSet([a]);
    const { revision } = set;

    expect(() => set.add(value as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }));

    expect([set.list(), set.revision]).toEqual([[a], revision]);
  });

  test('can be empty, and take a name again that was removed', () => {
    const set = createToolSet();
    expect(set.list()).toEqual([]);

    set.add(a);
    set.remove('a');
    set.add(a);

    expect(set.list()).toEqual([a]);
  });
});
