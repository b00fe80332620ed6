import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Spawn } from 'keelson/mcp';
import { serve as serveEcho } from '../../fixtures/manifest/serve-echo.mjs';
import { serve as serveRaw } from '../../fixtures/mcp/serve-raw.mjs';
import { startInProcess } from '../process/in-process.js';

/** The program of a server that does what its configuration says, even if that violates the protocol. */
export const rawServer = fileURLToPath(new URL('../../fixtures/mcp/raw-server.mjs', import.meta.url));
/** The program of a server with the tool `echo`, which tells the value of a variable. */
export const echoServer = fileURLToPath(new URL('../../fixtures/manifest/echo-server.mjs', import.meta.url));

/** Runs the two scripted servers in this process, and every other program as a child process. */
export const spawnScripted: Spawn = (command, args, options) => {
  const [program] = args;
  if (program === rawServer) return startInProcess({ command, args, options }, serveRaw);
  if (program === echoServer) return startInProcess({ command, args, options }, serveEcho);
  return spawn(command, args, options);
};
