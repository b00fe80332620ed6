import assert from 'node:assert/strict';
// #region anthropic
import { anthropic } from 'keelson/anthropic';

const claude = anthropic('claude-sonnet-5');
const proxy = anthropic('MiniMax-M2', { baseURL: 'https://api.minimax.io/anthropic', apiKey: 'sk-…' });
// #endregion

assert.deepEqual([claude.provider, proxy.id], ['anthropic', 'MiniMax-M2']);
