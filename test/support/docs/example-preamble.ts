// Names that the examples in doc comments use without declaring them.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Context } from '@restatedev/restate-sdk';
import type { Agent, JsonValue, Message, Model, RunContext, Session, Tool } from 'keelson';
import type { AgentTool, HookManager } from 'keelson/plugins';
import type { SessionStore, StateStore } from 'keelson/store';
import type { StepContractOptions } from 'keelson/testing';
import type { Pool as PgPool } from 'pg';

export { writeFile } from 'node:fs/promises';
export { DBOS } from '@dbos-inc/dbos-sdk';
export { createClient } from '@redis/client';
export { Pool } from 'pg';
export { expect, test } from 'vitest';
export { z } from 'zod';

export declare const agent: Agent;
export declare const model: Model;
export declare const smallerModel: Model;
export declare const otherVendor: Model;
export declare const tools: readonly Tool[];
export declare const add: Tool;
export declare const search: Tool;
export declare const session: Session;
export declare const message: Message;
export declare const run: RunContext;
export declare const hookManager: HookManager;
export declare const weather: AgentTool;
export declare const notes: ReadonlyMap<string, string>;
export declare const client: Client;
export declare const pool: PgPool;
export declare const MyStore: new () => SessionStore;
export declare const MyStateStore: new () => StateStore;
export declare const url: string;
export declare const workspaceDir: string;
export declare const stateDir: string;
export declare const ctx: Context;
export declare const question: string;
export declare const runsMyEngine: StepContractOptions;
export declare const job: { readonly id: string };
export declare const saveRequest: (id: string, pending: readonly unknown[]) => Promise<void>;
export declare const database: {
  find(key: string): Promise<JsonValue | undefined>;
  insert(key: string, value: JsonValue): Promise<void>;
};
