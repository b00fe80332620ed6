import { describe, expect, test } from 'vitest';
import { Expansion, unknownPlaceholdersIn, variablesIn } from '../../../src/mcp/config/expansion.js';
import { variable } from '../../support/mcp/lab.js';

describe('variables in configurations', () => {
  test('replaces each variable once, uses defaults, and lists missing variables', () => {
    const expansion = new Expansion({ A: variable('B'), B: 'b', EMPTY: '' });
    const expand = (...names: string[]) => names.map((name) => expansion.text(variable(name)));

    expect(expand('A', 'B', 'EMPTY', 'EMPTY:-d', 'NONE:-', 'NONE:-x y')).toEqual([
      variable('B'),
      'b',
      '',
      'd',
      '',
      'x y',
    ]);
    expect([...expansion.missing]).toEqual([]);
    expect(expand('NONE', 'toString', '__proto__')).toEqual(['', '', '']);
    expect([...expansion.missing]).toEqual(['NONE', 'toString', '__proto__']);
    expect(expansion.text('$B {B} $(B) $$ ${')).toBe('$B {B} $(B) $$ ${');
  });

  test('lists each variable of some strings once', () => {
    expect(variablesIn([variable('B'), `x${variable('A:-1')}${variable('B')}`, '$C'])).toEqual(['A', 'B']);
    expect(variablesIn([variable('env:TOKEN')])).toEqual(['TOKEN']);
    expect(new Expansion({ TOKEN: 't' }).text(variable('env:TOKEN'))).toBe('t');
  });

  test('reads a string with many unclosed variables quickly', () => {
    const text = `${variable('A:-1')}${'${A:-'.repeat(200_000)}`;

    expect(variablesIn([text])).toEqual(['A']);
    expect(unknownPlaceholdersIn([text]).every((found) => found.startsWith('${A:-') && found.length < 100)).toBe(true);
    expect(new Expansion({}).text(text)).toBe(`1${text.slice(variable('A:-1').length)}`);
  });

  test('reports placeholders that are not supported variables', () => {
    const nested = variable(`A:-${variable('B')}`);
    const texts = ['input:key', 'A:=x', 'A-x', '', '1A'].map(variable);

    expect(
      unknownPlaceholdersIn([variable('A'), variable('A:-x'), variable('env:A'), '$A', ...texts, 'open ${']),
    ).toEqual([...texts, '${']);
    expect(unknownPlaceholdersIn([nested])).toEqual([variable('B')]);
  });
});
