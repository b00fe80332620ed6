import { expect, test } from 'vitest';
import { parseManifest } from '../../src/manifest/manifest.js';
import { hooksOf, makePlace, manifest } from '../support/manifest/place.js';

const hook = (more: object = {}) => ({ name: 'guard', event: 'before_tool', command: 'true', ...more });
const variants: Record<string, object> = {
  commandBlank: { command: ' ' }, commandEmpty: { command: '' }, commandNul: { command: 'a\0b' }, commandShellSyntax: { command: 'a | b' }, commandQuote: { command: "echo 'x" },
  commandLeading: { command: '  true  x ' }, timeoutHuge: { timeout: 2 ** 40 }, timeout0: { timeout: 0 }, timeoutNeg: { timeout: -1 }, timeoutStr: { timeout: '5' }, timeoutFrac: { timeout: 0.5 }, timeoutNull: { timeout: null },
  cwdOut: { cwd: '../..' }, cwdAbs: { cwd: '/tmp' }, cwdNul: { cwd: 'a\0' }, cwdEmpty: { cwd: '' }, filesAbs: { files: ['/etc/passwd'] }, filesEmpty: { files: [''] }, filesNul: { files: ['\0'] },
  reads: { reads: ['A B'] }, readsEmpty: { reads: [''] }, readsEq: { reads: ['A=B'] }, sens: { sensitive: [''] }, exit: { exitCodes: 'yes' }, exitNull: { exitCodes: null }, onF: { onFailure: 'stop' }, onFNull: { onFailure: null },
  shellStr: { shell: 'zsh' }, matcherEmpty: { matcher: '' }, matcherNul: { matcher: 'a\0' }, matcherRedos: { matcher: '(a+)+$' }, matcherBackref: { matcher: '(a)\\1' }, matcherLookbehind: { matcher: '(?<=a)b' }, matcherUnicode: { matcher: '\\p{Foo}' },
  matcherOther: { event: 'before_agent', matcher: '(' }, nameEmpty: { name: '' }, nameNul: { name: 'a\0b' }, nameLong: { name: 'a'.repeat(5000) }, nameNl: { name: 'a\nb' }, nameNum: { name: 5 },
  envEmptyName: { env: { '': 'x' } }, envNum: { env: { A: 5 } }, envDash: { env: { 'A-B': 'x' } }, envNull: { env: null }, argsStr: { args: 'x' }, argsNum: { args: [5] }, argsNull: { args: null }, descr: { description: 5 }, descr2: { description: 'x' }, title: { title: 'x' }, cond: { condition: 'Bash(' }, dialect: { dialect: 'claude' }, scope: { scope: 'builtin' }, src: { source: '/x' }, root: { root: '/' }, background: { background: true }, variables: { variables: {} }, extension: { extension: 'other' }, id: { id: '1' }, eventCase: { event: 'Before_Tool' }, eventForeign: { event: 'PreToolUse' }, proto: JSON.parse('{"__proto__":{"command":"x"}}'), commandPath: { command: '../../x' }, commandTilde: { command: '~/x' }, commandVar: { command: '$HOME/x' }, commandExt: { command: '${extensionPath}/x' },
};
test('A2', async () => {
  for (const [name, more] of Object.entries(variants)) for (const onFailure of ['continue', 'block']) {
    const place = makePlace();
    const text = JSON.stringify(manifest('x', { hooks: [hook({ onFailure, ...more })] }));
    place.user('x', text);
    const read = parseManifest(text) as any;
    const { loader, agent } = await place.load();
    const found = read.problems ? 'REFUSED' : read.errors.length > 0 ? 'error' : read.warnings.length > 0 ? 'warning' : 'fine';
    const st = loader.status().extensions[0];
    const reg = hooksOf(loader).length; const all = loader.hooks.list().length;
    const diag = loader.status().diagnostics.map((d) => d.level).join();
    const bad = (st && st.hooks.length !== reg) || (reg === 0 && (found === 'fine' || found === 'warning')) || (reg === 0 && onFailure === 'block' && st?.state === 'active') || (reg===1 && found==='error');
    console.log(bad ? 'HOLE' : 'ok  ', name, onFailure, '| parse', found, '| state', st?.state, 'hooks', st?.hooks.length, 'reg', reg, all, '| diag', diag, read.problems ? '' : JSON.stringify([...read.errors, ...read.warnings].map((e: any) => e.message)).slice(0, 150));
    await agent.close();
  }
}, 300000);
