import { expect, test } from 'vitest';
import { compilePermissionRule } from '../../../src/shell-hooks/hook/permission-rule.js';

const matches = (rule: string, { name, args }: { readonly name: string; readonly args: unknown }) =>
  compilePermissionRule(rule)?.({ names: [name], args, workspaceDir: '/work' });
const bash = (command: unknown) => ({ name: 'Bash', args: { command } });
const file = (name: string, file_path: string) => ({ name, args: { file_path } });

test.each<[string, Parameters<typeof matches>[1], boolean]>([
  ['Bash', bash('ls'), true],
  ['Bash', file('Edit', 'a'), false],
  ['Bash(git push *)', bash('git push origin'), true],
  ['Bash(git push *)', bash('git push'), true],
  ['Bash(git push:*)', bash('git push -f'), true],
  ['Bash(git push *)', bash('git pushd'), false],
  ['Bash(git push *)', bash('git status'), false],
  ['Bash(git push *)', bash('npm test && git   push'), true],
  ['Bash(git push *)', bash('GIT_DIR=/x sudo git push'), true],
  ['Bash(git push *)', bash('echo $(anything)'), true],
  ['Bash(git push *)', bash('bash -c "git push"'), true],
  ['Bash(git push *)', bash(undefined), true],
  ['Bash(git push *)', bash('ls; timeout 5s git push'), true],
  ['Bash(git push *)', bash('sudo -u root git push'), true],
  ['Bash(git push *)', bash('env -i git push'), true],
  ['Bash(git push *)', bash('/usr/bin/git push'), true],
  ['Bash(git push *)', bash('G=git; $G push'), true],
  ['Bash(git push *)', bash('echo "git push" | bash -s'), true],
  ['Bash(git push *)', bash('sudo ls -a; bash build.sh $HOME "git push"'), false],
  ['Bash(npm run build)', bash('npm run build'), true],
  ['Bash(npm run build)', bash('npm run build:all'), false],
  ['Bash(ls*)', bash('lsof'), true],
  ['Bash(* --force)', bash('git push --force'), true],
  ['Edit(*.ts)', file('Write', '/work/src/a.ts'), true],
  ['Edit(*.ts)', file('Write', '/work/src/a.js'), false],
  ['Edit(/src/**)', file('Edit', 'src/deep/a.js'), true],
  ['Edit(/src/**)', file('Edit', 'test/src/a.js'), false],
  ['Edit(/src/**)', file('Edit', 'test/../src/a.js'), true],
  ['Edit(.env)', file('Edit', '/work/app/.env'), true],
  ['Read(//etc/**)', file('Read', '/etc/passwd'), true],
  ['Read(./secrets/*)', file('Read', '/work/secrets/a'), true],
  ['Read(./secrets/*)', file('Edit', '/work/secrets/a'), false],
  ['WebFetch(domain:example.com)', { name: 'WebFetch', args: { url: 'https://example.com/a' } }, true],
  ['WebFetch(domain:example.com)', { name: 'WebFetch', args: { url: 'https://other.com' } }, false],
  ['mcp__github', { name: 'mcp__github__push', args: {} }, true],
  ['mcp__github', { name: 'mcp__github-x__push', args: {} }, false],
  ['mcp__github__*', { name: 'mcp__github__push', args: {} }, true],
  ['Agent(Explore)', { name: 'Agent', args: { subagent_type: 'Plan' } }, false],
])('tests the rule %s with %j: %j', (...[rule, call, expected]) => {
  expect(matches(rule, call)).toBe(expected);
});

test.each(['', 'Bash(', '(git)', 'Bash git', 'Bash()x'])('refuses the rule %j', (rule) => {
  expect(compilePermissionRule(rule)).toBe(undefined);
});
