import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePermissionRule } from '../../../src/shell-hooks/rule/permission-rule.js';
import { growth } from '../../support/growth.js';
import { takesAtMostMs } from '../../support/process/cpu-time.js';

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

const push = 'Bash(git push *)';
test.each<[string, boolean]>([
  ['git \\\n  push origin main', true],
  ['git pu\\\nsh', true],
  ['g\\it "pu"sh', true],
  ['git push>log origin', true],
  ['git 2>log push', true],
  ['>log git push', true],
  ['git push &>log', true],
  ['ls &&>log git push', true],
  ['git push 2>&1 | tee x', true],
  ['coproc git push', true],
  ['coproc N { git push; }', true],
  ['function f { git push; }; f', true],
  ['if git push; then ls; fi', true],
  ['while ! git push; do :; done', true],
  ['case x in x) git push;; esac', true],
  ['/usr/bin/env A=1 git push', true],
  ['timeout 5 sudo git push', true],
  ['nice -n 5 git push', true],
  ['git $SUB origin', true],
  ['git {push,origin}', true],
  ['git pu* origin', true],
  ["git $'push'", true],
  ['echo "$(git push)"', true],
  ['diff <(git push) x', true],
  ['bash --norc -c "git push"', true],
  ['bash <<< "git push"', true],
  ['ev\\al git push', true],
  ['find . -exec git push ;', true],
  ["echo 'open", true],
  ["cat <<EOF\nit's\nEOF\ngit push\necho 'x", true],
  ["cat <<EOF\n  EOF\nit's\nEOF\ngit push # '", true],
  ['cat <<EOF\n$(git push)\nEOF', true],
  ["echo ''#; git push", true],
  ['git status # git push', false],
  ['git commit -m "then git push"', false],
  ["git commit -m 'run `git push` $(later)'", false],
  ["cat > a.md <<'EOF'\ngit push\nit's\nEOF\nls", false],
  ['echo $HOME; [ -d x ] && git status *.ts', false],
  ['git status; gitpush', false],
  ['echo > "git push"', false],
])('reads the command line %j as a shell does: %j', (line, expected) => {
  expect(matches(push, bash(line))).toBe(expected);
});

test.each<[string, string, boolean]>([
  ['Bash(git push *--force*)', 'git push $OPTIONS', true],
  ['Bash(git push *--force*)', 'git push origin', false],
  ['Bash(echo * > *)', 'cd x && sudo echo a > b', true],
  ['Bash(git commit -m "a b")', 'ls; git commit -m "a b"', true],
  ['Bash(curl * | bash)', 'curl x | bash', true],
  ['Bash(npm run build)', 'npm run build $X', true],
  ['Bash(npm run build)', 'npm run builder $X', false],
])('tests the rule %s with the command line %j: %j', (rule, line, expected) => {
  expect(matches(rule, bash(line))).toBe(expected);
});

test.each<[string, string, boolean]>([
  ['*.[jt]s', 'src/a.ts', true],
  ['*.[jt]s', 'src/a.cs', false],
  ['src/[ab]/*.ts', 'src/a/x.ts', true],
  ['[Mm]akefile', 'sub/Makefile', true],
  ['a\\[1\\].ts', 'a[1].ts', true],
  ['a\\[1\\].ts', 'a1.ts', false],
  ['a\\*.ts', 'a*.ts', true],
  ['a\\*.ts', 'ab.ts', false],
  ['[!a-c].ts', 'd.ts', true],
  ['[^a-c].ts', 'b.ts', false],
  ['[]x].ts', '].ts', true],
  ['src[!a]x.ts', 'src/x.ts', false],
  ['[a-', '[a-', true],
])('tests the pattern %s of gitignore with the path %s: %j', (pattern, path, expected) => {
  expect(matches(`Edit(${pattern})`, file('Edit', path))).toBe(expected);
});

test.each(['Edit([z-a].ts)', 'Edit(!*.md)'])('refuses the pattern %s, which matches nothing', (rule) => {
  expect(compilePermissionRule(rule)).toBe(undefined);
});

test.each(['Bash(git push *)|Bash(git commit *)', 'Edit(*.ts) | Write(*.ts)', 'Bash(a), Bash(b)', 'Bash|Edit'])(
  'refuses %s, which is several rules',
  (rule) => {
    expect(compilePermissionRule(rule)).toBe(undefined);
  },
);

test.each(['', 'Bash(', '(git)', 'Bash git', 'Bash()x'])('refuses the rule %j', (rule) => {
  expect(compilePermissionRule(rule)).toBe(undefined);
});

const stars = '*a'.repeat(20);
const endless = (size: number) => `${'a'.repeat(10 * size)}b`;
test.each<[string, (size: number) => Parameters<typeof matches>[1]]>([
  [`WebFetch(domain:${stars})`, (size) => ({ name: 'WebFetch', args: { url: `https://${endless(size / 400)}` } })],
  [`drop(${stars})`, (size) => ({ name: 'drop', args: { command: endless(size) } })],
  [stars, (size) => ({ name: endless(size), args: {} })],
])('tests %s with a long argument in linear time', async (rule, callOf) => {
  const testRule = (size: number) => {
    const call = callOf(size);
    return () => expect(matches(rule, call)).toBe(false);
  };

  expect(await growth(400, testRule)).toBeLessThan(100);
});

test.each([`Bash(${stars})`, 'Bash(git push *)'])(
  'tests %s with a command line of any length in 50 ms of processor time, and a line that takes too long matches',
  (rule) => {
    for (const size of [400, 4_000, 8_000, 65_536]) {
      for (const piece of ['a', 'ab a', 'a=b ', 'sudo ', 'timeout 1 ', '>a ', 'a;']) {
        const call = bash(`${piece.repeat(size / piece.length)}ls`);
        expect([piece, size, takesAtMostMs(50, () => matches(rule, call))]).toEqual([piece, size, true]);
        expect(matches(rule, call)).toBe(size > 8_192);
      }
    }
  },
);

test.each([`Edit(${stars})`, `Edit(${'**/a/'.repeat(20)}b)`, `Edit(${'*/'.repeat(200)})`])(
  'tests %s with a path of any length in 50 ms of processor time, and a path that takes too long matches',
  (rule) => {
    for (const size of [400, 4_000, 65_536]) {
      for (const piece of ['a', 'a/', '/']) {
        const call = file('Edit', `${piece.repeat(size / piece.length)}b`);
        expect(takesAtMostMs(50, () => matches(rule, call))).toBe(true);
        // Slashes in a row are one slash, so a path of them is short.
        if (size === 65_536 && piece !== '/') expect(matches(rule, call)).toBe(true);
      }
    }
  },
);

test('a pattern of gitignore matches as in a regular expression, with everything inside a match', () => {
  const step = fc.constantFrom('a', 'b', '*', '**', '?', '[!a]', 'a*');
  const names = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), fc.boolean(), names, (steps, isRooted, path) => {
      const isAnchored = isRooted || steps.length > 1;
      const source = steps.map((one, at) => {
        if (one === '**') return isAnchored && at > 0 && at === steps.length - 1 ? '[^/]+/' : '(?:[^/]+/)*';
        return `${one.replaceAll('[!', '[^').replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}/`;
      });
      const whole = `^${isAnchored ? '' : '(?:[^/]+/)*'}${source.join('')}(?:[^/]+/)*$`;
      const rule = `Edit(${isRooted ? '/' : ''}${steps.join('/')})`;

      expect(matches(rule, file('Edit', path.join('/')))).toBe(new RegExp(whole).test(`${path.join('/')}/`));
    }),
    { numRuns: 2_000 },
  );
});
