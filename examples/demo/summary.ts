import type { Usage } from 'keelson';
import type { AuditEntry, AuditLog } from './audit-log.js';
import type { FolderGuard } from './folder-guard.js';
import { plain } from './terminal.js';

/** What the picture is drawn from. */
export interface Summary {
  readonly audit: AuditLog;
  readonly guard: FolderGuard;
  readonly usages: readonly Usage[];
  readonly ms: number;
}

/** The runs as a picture: a line a turn, then the sums. Drawn from what the two lifecycles wrote down. */
export function drawSummary({ audit, guard, usages, ms }: Summary): string {
  const runs = groupBy(audit.entries, ({ run }) => run);
  const tools = audit.entries.filter(({ kind }) => kind === 'tool');
  const turns = sum(runs, (entries) => groupBy(entries, ({ turn }) => String(turn)).length);
  const tokens = `${sum(usages, (usage) => usage.inputTokens)} + ${sum(usages, (usage) => usage.outputTokens)} tokens`;
  const fired = [...audit.fired].map(([hook, count]) => `${hook} ${count}`).join(' · ');
  return [
    ...runs.flatMap((entries, index) => drawRun(entries, `question ${index + 1}`)),
    `hooks    audit: ${fired}`,
    `         guard: wrapToolCall ${guard.checked}, denied ${guard.denied.length}`,
    ...guard.denied.map((call) => `           ✗ ${plain(call)}`),
    `total    ${turns} turns · ${tools.length} tool calls · ${tokens} · ${(ms / 1000).toFixed(2)} s`,
  ].join('\n');
}

function drawRun(entries: readonly AuditEntry[], title: string): string[] {
  const turns = groupBy(entries, ({ turn }) => String(turn));
  return [title, ...turns.map((turn, index) => drawTurn(turn, index === turns.length - 1 ? '└─' : '├─'))];
}

function drawTurn(entries: readonly AuditEntry[], branch: string): string {
  const calls = entries.filter(({ kind }) => kind === 'tool').map(drawEntry);
  const models = entries.filter(({ kind }) => kind === 'model').map(drawEntry);
  return `  ${branch} turn ${entries[0]?.turn}  ${models.join(', ')} ─▶ ${calls.join(', ') || 'answer'}`;
}

function drawEntry({ name, ms, failed }: AuditEntry): string {
  return `${plain(name)} ${Math.round(ms)} ms${failed ? ' ✗' : ''}`;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()];
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
