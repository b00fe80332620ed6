import assert from 'node:assert/strict';
import { anthropic } from 'keelson/anthropic';

// #region anthropic
const claude = anthropic('claude-sonnet-5');
const proxy = anthropic('MiniMax-M2', { baseURL: 'https://api.minimax.io/anthropic', apiKey: 'sk-…' });
// #endregion

assert.deepEqual([claude.provider, proxy.id], ['anthropic', 'MiniMax-M2']);
