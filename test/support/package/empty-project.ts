import { execFileSync, spawnSync } from 'node:child_process';
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

  /** Links a package of this repository into the project. */
  link(name: string): void {
    const path = join(this.folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) symlinkSync(realpathSync(`${root}node_modules/${name}`), path);
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Runs Node in the project, without an API key. */
  node(...args: readonly string[]): ProgramOutcome {
    const { OPENAI_API_KEY, ANTHROPIC_API_KEY, NODE_ENV, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: this.folder, env, encoding: 'utf8' });
    return { code: status, stdout, stderr };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Puts the content of the tarball into `node_modules/keelson` of a folder. */
function extractTarball(folder: string): void {
  const target = join(folder, 'node_modules/keelson');
  mkdirSync(target, { recursive: true });
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const packed = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  execFileSync('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', target]);
}
