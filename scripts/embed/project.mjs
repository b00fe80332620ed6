// A project of a user: installs, builds and starts programs in a folder of its own.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { install } from '../packed-project.mjs';

const sources = fileURLToPath(new URL('../../test/embed', import.meta.url));
const START_MS = 120_000;

/**
 * A program of a place: a command, and the directory and the variables that it needs.
 * @typedef {{ command: readonly string[], cwd?: string, env?: Record<string, string> }} Program
 */

export class Project {
  /**
   * @param {string} source the folder of test/embed
   * @param {{ root: string, env: Record<string, string> }} setting the variables are those of all its programs
   */
  constructor(source, { root, env }) {
    this.root = root;
    this.common = env;
    this.folder = join(mkdtempSync(join(root, `${source}-`)), 'app');
    cpSync(join(sources, source), this.folder, { recursive: true });
    cpSync(join(sources, 'chat.mjs'), join(this.folder, 'chat.mjs'));
    const manifest = join(this.folder, 'package.json');
    if (!existsSync(manifest)) writeFileSync(manifest, JSON.stringify({ name: source, private: true }));
  }

  /** @param {readonly string[]} packages */
  install(packages) {
    install([...packages], this.folder);
  }

  /**
   * Installs package managers beside the project.
   * @param {readonly string[]} tools
   */
  installTools(tools) {
    const folder = join(this.folder, '../tools');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    install([...tools], folder);
  }

  /**
   * Runs a program to its end. Throws its output if it fails.
   * @param {readonly string[]} command
   * @param {Record<string, string>} [env]
   */
  run(command, env) {
    const options = { cwd: this.folder, env: this.env(env), encoding: /** @type {const} */ ('utf8'), timeout: 600_000 };
    const [name = '', ...args] = command;
    const { status, stdout, stderr } = spawnSync(name, args, options);
    if (status !== 0) throw new Error(`\`${command.join(' ')}\` failed:\n${`${stdout}${stderr}`.trim().slice(-4_000)}`);
    return stdout;
  }

  /**
   * Copies a folder or file of the project to a directory without packages, as a deployment does.
   * @param {string} path
   */
  moved(path) {
    const target = join(mkdtempSync(join(this.root, 'moved-')), 'app');
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(this.folder, path), target, { recursive: true, verbatimSymlinks: true });
    return target;
  }

  /**
   * The installed version of a package or of a package manager.
   * @param {string} name
   */
  version(name) {
    const [file = ''] = ['.', '../tools']
      .map((folder) => join(this.folder, folder, 'node_modules', name, 'package.json'))
      .filter((path) => existsSync(path));
    return JSON.parse(readFileSync(file, 'utf8')).version;
  }

  /**
   * Starts a server, and resolves when it answers. A server elsewhere runs without the folder of its project.
   * @param {Program & { readonly path?: string }} program
   */
  async start({ command, cwd = this.folder, env, path = '/api/chat' }) {
    const port = String(await freePort());
    const all = this.env({ PORT: port, HOSTNAME: '127.0.0.1', ...env });
    const [name = '', ...args] = command.map((word) => word.replace(/\$(\w+)/, (_, variable) => `${all[variable]}`));
    const away = `${this.folder}-away`;
    const isElsewhere = cwd !== this.folder;
    if (isElsewhere) renameSync(this.folder, away);
    // A group of its own, since build tools start servers as children.
    const child = spawn(name, args, { cwd, env: all, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const kill = () => child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGKILL');
    process.prependOnceListener('exit', kill);
    const exit = once(child, 'exit');
    const stop = async () => {
      process.off('exit', kill);
      kill();
      await exit;
      if (isElsewhere) renameSync(away, this.folder);
    };
    const url = `http://127.0.0.1:${port}${path}`;
    const end = performance.now() + START_MS;
    while (!(await answers(url))) {
      if (child.exitCode === null && performance.now() < end) {
        await setTimeout(100);
        continue;
      }
      await stop();
      throw new Error(`\`${command.join(' ')}\` does not start:\n${output.trim().slice(-4_000)}`);
    }
    return { url, stop, output: () => output };
  }

  /**
   * @param {Record<string, string>} [more]
   * @returns {Record<string, string | undefined>}
   */
  env(more) {
    const path = [join(this.folder, 'node_modules/.bin'), process.env.PATH].join(delimiter);
    return { ...process.env, NODE_ENV: 'production', PATH: path, ...this.common, ...more };
  }
}

/** @param {string} url */
async function answers(url) {
  const response = await fetch(`${url}/history?id=none`).catch(() => undefined);
  await response?.body?.cancel();
  return response !== undefined;
}

async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  return port;
}
