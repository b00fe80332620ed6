import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const packageFile = (path: string) => fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${path}`));

/** A workspace of its own in a temporary directory, with hooks, MCP servers, a plugin package and an extension. */
export class HarbourWorkspace implements Disposable {
  private readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-host-')));
  readonly dir = join(this.root, 'project');
  /** The home directory of the user of this example. */
  readonly home = join(this.root, 'home');

  constructor() {
    mkdirSync(this.home);
    cpSync(here('hooks'), join(this.dir, 'hooks'), { recursive: true });
    cpSync(here('tide-plugin'), join(this.dir, 'node_modules/tide-plugin'), { recursive: true });
    this.write('harbour.plugins.json', { plugins: [{ path: 'tide-plugin', options: { metres: 4 } }] });
    this.write('.mcp.json', { mcpServers: { files: this.fileServer(), tides: this.tideServer() } });
    this.write('.claude/settings.json', claudeHooks('mcp__files__write_file'));
    const afterCall = { command: 'node hooks/log-call.mjs', timeout: 5 };
    this.write('.cursor/hooks.json', { version: 1, hooks: { afterMCPExecution: [afterCall] } });
    this.writeExtension('berths', 'Ships moor at the east quay.');
    this.writeExtension('logbook', 'A calm day. '.repeat(3_000));
  }

  /** Changes every kind of item, as an editor or `git pull` would. */
  change(): void {
    const notes = { command: process.execPath, args: [packageFile('server-memory/dist/index.js')] };
    const env = { MEMORY_FILE_PATH: join(this.dir, 'notes.jsonl') };
    this.write('.mcp.json', { mcpServers: { files: this.fileServer(), notes: { ...notes, env } } });
    this.write('.claude/settings.json', claudeHooks('mcp__files__write_file|mcp__notes__delete_entities'));
    rmSync(join(this.dir, '.cursor'), { recursive: true });
    this.write('harbour.plugins.json', { plugins: [{ path: 'tide-plugin', options: { metres: 5 } }] });
    rmSync(join(this.dir, '.harbour/extensions/berths'), { recursive: true });
  }

  /** Ends the wait of the tool `next_tide`. */
  raiseTide(): void {
    this.write('high-water', true);
  }

  read(path: string): string {
    const file = join(this.dir, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true });
  }

  private write(path: string, content: unknown): void {
    const file = join(this.dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(content));
  }

  private writeExtension(name: string, prompt: string): void {
    const skill = { name, description: `Knows about ${name}.`, prompt };
    const manifest = { name, version: '1.0.0', description: 'An extension package.', skills: [skill] };
    this.write(`.harbour/extensions/${name}/manifest.json`, manifest);
  }

  private fileServer() {
    return { command: process.execPath, args: [packageFile('server-filesystem/dist/index.js'), this.dir] };
  }

  private tideServer() {
    return { command: process.execPath, args: [here('tide-server.mjs'), join(this.dir, 'high-water')] };
  }
}

function claudeHooks(matcher: string) {
  const readOnly = { type: 'command', command: 'node "$CLAUDE_PROJECT_DIR"/hooks/read-only.mjs', timeout: 5 };
  return { hooks: { PreToolUse: [{ matcher, hooks: [readOnly] }] } };
}
