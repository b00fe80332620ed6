import type { Logger } from '../../internal/logger.js';
import { cloneData } from '../../internal/plain-data.js';
import type { ToolSpec } from '../../model/model.js';
import type { Tool } from '../../tools/tool.js';
import type { ExtensionContext } from '../context.js';
import type { Callback } from './callback.js';

/** Creates the context of one callback. Expensive members are created when they are first read. */
export function createContext(callback: Callback): ExtensionContext {
  const { run } = callback;
  const { run: info } = run;
  const { state } = run.settings;
  let tools: readonly ToolSpec[] | undefined;
  return {
    extensionId: callback.id,
    get sessionId() {
      return run.sessionId;
    },
    agent: info.agent,
    turn: info.turn,
    context: info.context,
    get tools() {
      tools ??= Object.freeze(info.tools.map(specOf));
      return tools;
    },
    get signal() {
      return callback.signal;
    },
    get logger() {
      return prefixed(callback);
    },
    async getState(key, as) {
      callback.assertGood('getState');
      return state.get(callback.scope, { key, as }, callback.site);
    },
    async setState(key, value, codec) {
      callback.assertGood('setState');
      run.wrote = true;
      await state.set(callback.scope, { key, value, codec }, callback.site);
    },
    async clearState(key) {
      callback.assertGood('clearState');
      await state.clear(callback.scope, key, callback.site);
    },
  };
}

function specOf({ name, description, inputSchema }: Tool): ToolSpec {
  return Object.freeze({ name, description, inputSchema: cloneData(inputSchema) });
}

function prefixed({ id, run }: Callback): Logger {
  const { logger } = run;
  const line = (message: string) => `Extension "${id}": ${message}`;
  return {
    debug: (message, details) => logger.debug(line(message), details),
    info: (message, details) => logger.info(line(message), details),
    warn: (message, details) => logger.warn(line(message), details),
    error: (message, details) => logger.error(line(message), details),
  };
}
