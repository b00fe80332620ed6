import { type Cell, known } from './cell.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import { cursor } from './cursor.js';
import { gemini } from './gemini.js';
import { native } from './native.js';
import type { Program, ServerTable } from './program.js';
import { SERVER_PROGRAMS } from './server-programs.js';

const programs: Program[] = [native, claude, codex, gemini, cursor, copilot, ...SERVER_PROGRAMS];

/**
 * All programs whose files Keelson reads. A new program needs its own file in this folder, and one entry in this array.
 */
export const PROGRAMS: readonly Program[] = programs;

/** Adds a program, and returns a function that removes it. Tests use it to add programs that do not exist. */
export function addProgram(program: Program): () => void {
  programs.push(program);
  return () => void programs.splice(programs.indexOf(program), 1);
}

/** Returns the program with this id. */
export function programOf(id: string | undefined): Program | undefined {
  return PROGRAMS.find((program) => program.id === id);
}

/**
 * Returns the program that has MCP server files with such a path, such as `.vscode/mcp.json`. Undefined if no program
 * has.
 */
export function programOfServers(path: string): Program | undefined {
  const normal = `/${path.replaceAll('\\', '/')}`;
  return PROGRAMS.find(({ servers }) => known(servers?.files, []).some((end) => normal.endsWith(`/${end}`)));
}

/** Returns one fact about MCP server files from every program for which it is known. */
export function serverCells<Value>(cellOf: (servers: ServerTable) => Cell<Value>): readonly Value[] {
  return PROGRAMS.flatMap(({ servers }) => {
    const cell = servers === undefined ? 'unknown' : cellOf(servers);
    return cell === 'unknown' ? [] : [cell.value];
  });
}
