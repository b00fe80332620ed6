import { expect, test } from 'vitest';
import { portableNameProblem } from '../../../src/process/files/portable-name.js';

test.each([
  ...['CON', 'con', 'nul.txt', 'Aux', 'PRN.a.b', 'COM1', 'com0', 'LPT9.log', 'CONIN$', 'nul .txt', 'CON  .a'],
  ...['a.', 'a ', '..', '-rf', '-', '--help'],
  ...['toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__', 'constructor'],
])('refuses the name %j on every platform', (name) => {
  expect(portableNameProblem(name)).toEqual(expect.any(String));
});

test.each(['console', 'connect', 'nullable', 'com10', 'a.b', 'a-b', 'auxiliary', 'tostring', 'é', 'a b', 'prototype'])(
  'accepts the name %j',
  (name) => {
    expect(portableNameProblem(name)).toBeUndefined();
  },
);
