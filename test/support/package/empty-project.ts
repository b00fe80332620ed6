import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { root } from '../docs/doc-files.js';

/** The exit code and the output of a program. */
export interface ProgramOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project as `npm init -y && npm install keelson zod` makes it, from the packed tarball and without a network. */
export class EmptyProject implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-empty-')));

  constructor() {
    this.write('package.json', JSON.stringify({ name: 'empty', version: '1.0.0', main: 'index.js', type: 'commonjs' }));
    extractTarball(this.folder);
    const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    for (const name of Object.keys(dependencies)) this.link(name);
  }

  /** Links a package of this repository and its commands into the project. */
  link(name: string): void {
    const path = join(this.folder, 'node_modules', name);
    if (existsSync(path)) return;
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(realpathSync(`${root}node_modules/${name}`), path);
    const { bin = {} } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const commands: Record<string, string> = typeof bin === 'string' ? { [name.replace(/^@.*\//, '')]: bin } : bin;
    const folder = join(this.folder, 'node_modules/.bin');
    mkdirSync(folder, { recursive: true });
    for (const [command, file] of Object.entries(commands)) symlinkSync(join(path, file), join(folder, command));
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Runs Node in the project, without an API key. */
  node(...args: readonly string[]): ProgramOutcome {
    const options = { cwd: this.folder, env: cleanEnvironment(), encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
    return { code: status, stdout, stderr };
  }

  /**
   * Runs a module of the project in the directory of the module, without an API key and without a network for npm. The
   * home directory is an empty one in the project. Standard input gets the lines, and ends.
   */
  async run(name: string, lines: readonly string[]): Promise<ProgramOutcome> {
    const file = join(this.folder, name);
    const home = join(this.folder, 'homes', name);
    this.write(join('homes', name, '.npmrc'), 'offline=true\nupdate-notifier=false\n');
    const env = { ...cleanEnvironment(), HOME: home };
    const child = spawn(process.execPath, [file], { cwd: dirname(file), env });
    // A program may end before it has read its input.
    child.stdin.on('error', () => {});
    child.stdin.end(lines.map((line) => `${line}\n`).join(''));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: child.exitCode, stdout, stderr };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns the environment without API keys, and without what npm tells its scripts. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, NODE_ENV, ...env } = process.env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)));
}

/** Puts the content of the tarball into `node_modules/keelson` of a folder. */
function extractTarball(folder: string): void {
  const target = join(folder, 'node_modules/keelson');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', inject('tarball'), '--strip-components=1', '-C', target]);
}
